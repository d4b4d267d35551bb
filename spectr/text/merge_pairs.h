#pragma once

#include <cstddef>
#include <queue>
#include <utility>
#include <vector>

namespace spectr {

/// A range of the text that becomes a token in the end.
struct Symbol {
  std::size_t begin;
  std::size_t length;
  int id;  ///< meaning depends on the tokenizer
};

/// The merge of two adjacent symbols. Lower ranks are merged first.
struct Merge {
  double rank;
  int id;
};

/// Byte-pair encoding: merges the adjacent pair with the lowest rank (the leftmost of several), until no pair
/// has a merge. `merge_of(left, right)` returns an optional Merge; it is called fewer than 3n times for n
/// symbols. Cost: O(n log n) plus these calls, which should take bounded time however long the symbols have
/// become.
template <class MergeOf>
void merge_pairs(std::vector<Symbol>& symbols, MergeOf&& merge_of) {
  struct Candidate {
    double rank;
    std::size_t left, right;
    std::size_t length;  // of both at pairing time: differs once either has changed
    int id;
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  struct Link {
    std::size_t before, after;
  };
  const std::size_t n = symbols.size();
  if (n < 2) return;
  std::vector<Link> links(n);  // n denotes "none"
  for (std::size_t i = 0; i < n; ++i) links[i] = {i == 0 ? n : i - 1, i + 1};

  std::vector<Candidate> storage;
  storage.reserve(n);
  std::priority_queue<Candidate> queue({}, std::move(storage));
  const auto pair_up = [&](std::size_t left, std::size_t right) {
    if (left == n || right == n) return;
    const auto merge = merge_of(std::as_const(symbols[left]), std::as_const(symbols[right]));
    if (merge)
      queue.push({merge->rank, left, right, symbols[left].length + symbols[right].length, merge->id});
  };
  for (std::size_t i = 0; i + 1 < n; ++i) pair_up(i, i + 1);

  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[best.left];
    Symbol& right = symbols[best.right];
    const bool stale = left.length == 0 || right.length == 0 || left.length + right.length != best.length;
    if (stale) continue;
    left.length = best.length;
    left.id = best.id;
    right.length = 0;
    links[best.left].after = links[best.right].after;
    if (links[best.left].after != n) links[links[best.left].after].before = best.left;
    pair_up(links[best.left].before, best.left);
    pair_up(best.left, links[best.left].after);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.length == 0; });
}

}  // namespace spectr
