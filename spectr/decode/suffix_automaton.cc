#include "spectr/decode/suffix_automaton.h"

#include <bit>

#include "spectr/base/check.h"

namespace spectr {

void SuffixAutomaton::clear() {
  size_ = 0;
  states_.clear();
  edges_.clear();
  table_.assign(64, none);
  last_ = add_state(0, root, 0);
  end_ = {};
}

void SuffixAutomaton::reserve(std::size_t tokens) {
  // A sequence of n tokens has at most 2n states and 3n edges; natural text has about 1.5n and 2n.
  states_.reserve(2 * tokens + 1);
  edges_.reserve(3 * tokens);
  if (table_.size() < 6 * tokens) grow_table(3 * tokens);
}

SuffixAutomaton::State SuffixAutomaton::add_state(std::size_t length, State link, std::uint32_t count) {
  states_.push_back({static_cast<std::uint32_t>(length), link, none, 0, count});
  return static_cast<State>(states_.size() - 1);
}

std::size_t SuffixAutomaton::slot_of(State from, Token token) const {
  std::uint64_t key = std::uint64_t{from} << 32 | static_cast<std::uint32_t>(token);
  key = (key ^ key >> 31) * 0x9e3779b97f4a7c15;
  std::size_t slot = key >> (64 - std::countr_zero(table_.size()));
  const auto is_other = [&](std::uint32_t edge) {
    return edge != none && (edges_[edge].from != from || edges_[edge].token != token);
  };
  while (is_other(table_[slot])) slot = (slot + 1) & (table_.size() - 1);
  return slot;
}

std::uint32_t SuffixAutomaton::find(State from, Token token) const {
  return table_[slot_of(from, token)];
}

void SuffixAutomaton::grow_table(std::size_t edges) {
  table_.assign(std::bit_ceil(2 * edges), none);
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge)
    table_[slot_of(edges_[edge].from, edges_[edge].token)] = edge;
}

void SuffixAutomaton::add_edge(State from, Token token, State to) {
  if (2 * (edges_.size() + 1) > table_.size()) grow_table(table_.size());
  table_[slot_of(from, token)] = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({from, token, to, states_[from].first});
  states_[from].first = static_cast<std::uint32_t>(edges_.size() - 1);
  ++states_[from].edges;
}

SuffixAutomaton::Match SuffixAutomaton::shortened(Match match, std::size_t max) const {
  match.length = std::min(match.length, max);
  while (match.state != root && length(link(match.state)) >= match.length) match.state = link(match.state);
  return match;
}

void SuffixAutomaton::append(Token token) {
  SPECTR_CHECK(size_ < max_tokens);
  const State whole = add_state(++size_, root, 0);
  // Adds the continuation to every ending that lacks it; the first ending that has it determines the link.
  State ending = last_;
  std::uint32_t edge = none;
  while ((edge = find(ending, token)) == none) {
    add_edge(ending, token, whole);
    if (ending == root) break;
    ending = link(ending);
  }
  if (edge != none) {
    const State next = edges_[edge].to;
    if (length(next) == length(ending) + 1) {
      states_[whole].link = next;
    } else {  // its shorter substrings also end here and become a separate state
      const State split = add_state(length(ending) + 1, link(next), states_[next].count);
      for (std::uint32_t one = states_[next].first; one != none; one = edges_[one].next)
        add_edge(split, edges_[one].token, edges_[one].to);
      states_[next].link = states_[whole].link = split;
      while ((edge = find(ending, token)) != none && edges_[edge].to == next) {
        edges_[edge].to = split;
        if (ending == root) break;
        ending = link(ending);
      }
    }
  }
  last_ = whole;
  end_ = shortened({edges_[find(end_.state, token)].to, end_.length + 1}, max_match + 1);
  for (State state = end_.state; state != root; state = link(state)) ++states_[state].count;
}

SuffixAutomaton::Match SuffixAutomaton::advance(Match match, Token token) const {
  for (;;) {
    if (const std::uint32_t edge = find(match.state, token); edge != none)
      return shortened({edges_[edge].to, match.length + 1}, max_match);
    if (match.state == root) return {};
    match.state = link(match.state);
    match.length = length(match.state);
  }
}

SuffixAutomaton::Match SuffixAutomaton::repeated_end() const {
  const Match end = shortened(end_, max_match);
  if (states_[end.state].count > 1) return end;
  const State earlier = link(end.state);
  return {earlier, length(earlier)};
}

}  // namespace spectr
