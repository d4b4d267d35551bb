#pragma once

#include <algorithm>
#include <cstddef>

#include "spectr/base/recycled.h"

namespace spectr {

/// Pieces of the unit interval, in the order in which they were cut.
struct Pieces {
  RecycledVector<double> low;     ///< lower end; `below_cut` for a piece that lies below the cut c
  RecycledVector<double> length;  ///< stored separately, because it can be less than an ulp of `low`

  static constexpr double below_cut = -1.0;

  std::size_t size() const { return low.size(); }
  void add(double at, double width) {
    low.push_back(at);
    length.push_back(width);
  }
  /// Moves the first `count` of the pieces from index `first` on to the end.
  void rotate(std::size_t first, std::size_t count) {
    for (RecycledVector<double>* of : {&low, &length}) {
      const auto begin = of->begin() + static_cast<std::ptrdiff_t>(first);
      std::rotate(begin, begin + static_cast<std::ptrdiff_t>(count), of->end());
    }
  }
};

/// The remaining part of one block of the unit interval, from which tokens cut their windows in descending
/// order of the ratio of accepted mass to draft probability (docs/mathematics.md, "Tickets").
///
/// It consists, from below, of: a `pool` of length below the cut c, where a winning draft is rejected and
/// positions do not matter; the untouched part [floor, top); and a stack of gaps above it, the lowest at the
/// back. The mass of (a, b] is b^k − a^k above the floor and 0 in the pool. Each window begins at or below
/// `top`, so serving n tokens takes O(n) steps and one root per token.
class Leftover {
 public:
  Leftover(std::size_t k, Pieces& out) : k_(k), out_(out) {}

  /// Starts a block. Requires: pool ≥ 0, 0 ≤ floor.
  void open(double pool, double floor, double top);

  /// Cuts the lowest window of length p > 0 and mass m ≥ 0; one exists up to rounding. (For k = 1 all windows
  /// above the floor have the same mass, and any of them can be cut.) Adds its pieces in ascending order.
  void serve(double p, double m);

  /// Gives the remainder to the block's lowest token, whose draft probability is p > 0. Adds the pieces in
  /// ascending order.
  void serve_last(double p);

 private:
  struct Gap {
    double low, length;
  };

  double untouched() const { return top_ - floor_; }
  double mass(double low, double width) const;
  double mass_below_top(double width) const;
  double lower_edge(double p, double m) const;
  double share_of_gap(const Gap& gap, double want, double m) const;
  void cut_below_top(double p, double m);
  void cut_across_gaps(double p, double m);
  void take_below_top(double width);
  void take_from_pool(double width);
  void add(double low, double width);
  void leave_gap(double low, double high);

  std::size_t k_;
  Pieces& out_;
  double pool_ = 0.0, floor_ = 0.0, top_ = 0.0;
  RecycledVector<Gap> gaps_;
};

}  // namespace spectr
