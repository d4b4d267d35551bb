#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/kernels/vector_ops.h"

namespace spectr {

/// A token that filters may keep.
struct Candidate {
  double logit;
  Token token;
};

/// Larger logits first, ties by the lower id.
inline bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

/// The candidates in order, sorted only as far as somebody asks.
class Ranking {
 public:
  explicit Ranking(RecycledVector<Candidate> candidates) : all_(std::move(candidates)) {}

  std::size_t size() const { return all_.size(); }
  /// In no particular order.
  std::span<const Candidate> all() const { return all_; }

  /// Sorts at least the first n and gives them.
  std::span<const Candidate> first(std::size_t n) {
    n = std::min(n, all_.size());
    if (sorted_ < n) {
      // Quadruple what is sorted, so that asking one by one costs no more than asking at once.
      const std::size_t until = std::min(std::max(n, 4 * sorted_), all_.size());
      const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(sorted_);
      const auto end = all_.begin() + static_cast<std::ptrdiff_t>(until);
      if (end != all_.end()) std::nth_element(begin, end, all_.end(), before);
      std::sort(begin, end, before);
      sorted_ = until;
    }
    return std::span(all_).first(n);
  }

  void keep(std::size_t n) {
    first(n);
    all_.resize(std::min(n, all_.size()));
    sorted_ = std::min(sorted_, all_.size());
  }

  RecycledVector<Candidate> take() && { return std::move(all_); }

 private:
  RecycledVector<Candidate> all_;
  std::size_t sorted_ = 0;
};

/// All tokens with a logit of at least `line` but −∞.
template <class Number>
RecycledVector<Candidate> at_least(std::span<const Number> logits, double line) {
  RecycledVector<Candidate> found;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double logit = logits[i];
    if (logit >= line && logit > -std::numeric_limits<double>::infinity()) {
      found.push_back({logit, static_cast<Token>(i)});
    }
  }
  return found;
}

// As the kernels for floats, for the few numbers of a table.
inline double largest(std::span<const double> x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double most = -infinity;
  for (double number : x) {
    if (!(number < infinity)) return std::numeric_limits<double>::quiet_NaN();
    most = std::max(most, number);
  }
  return most;
}
inline std::size_t next_above(std::span<const double> x, std::size_t from, double bar) {
  while (from < x.size() && !(x[from] > bar)) ++from;
  return from;
}

/// The k likeliest of the possible tokens (all, where there are fewer) and perhaps others, at most 4 k + 64,
/// in no particular order. One pass over the logits. Requires: k ≥ 1.
template <class Number>
RecycledVector<Candidate> likeliest_and_more(std::span<const Number> logits, std::size_t k) {
  const std::size_t room = std::min(4 * k + 64, logits.size());
  RecycledVector<Candidate> found;
  found.reserve(room);
  // k tokens that came before reach the bar; at equal logits the earlier one wins.
  Number bar = -std::numeric_limits<Number>::infinity();
  for (std::size_t i = next_above(logits, 0, bar); i < logits.size(); i = next_above(logits, i + 1, bar)) {
    found.push_back({logits[i], static_cast<Token>(i)});
    if (found.size() < room || room <= k) continue;
    const auto last = found.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(found.begin(), last, found.end(), before);
    found.resize(k);
    bar = static_cast<Number>(found.back().logit);
  }
  return found;
}

}  // namespace spectr
