#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "spectr/base/logits.h"
#include "spectr/base/recycled.h"

namespace spectr {

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

}  // namespace spectr
