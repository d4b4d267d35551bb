#pragma once

#include <algorithm>
#include <cstddef>

#include "spectr/base/recycled.h"

namespace spectr {

/// Pieces of the unit interval, in the order in which they were cut.
struct Pieces {
  RecycledVector<double> low;     ///< lower end; `below_cut` for a piece that lies below the cut c
  RecycledVector<double> length;  ///< kept apart from `low`: a piece may be narrower than an ulp of its place

  static constexpr double below_cut = -1.0;

  std::size_t size() const { return low.size(); }
  void add(double at, double width) {
    low.push_back(at);
    length.push_back(width);
  }
  /// Moves the first `count` of the pieces from `first` on behind the others.
  void rotate(std::size_t first, std::size_t count) {
    for (RecycledVector<double>* of : {&low, &length}) {
      const auto begin = of->begin() + static_cast<std::ptrdiff_t>(first);
      std::rotate(begin, begin + static_cast<std::ptrdiff_t>(count), of->end());
    }
  }
};

/// What is left of one block of the unit interval while tokens cut their windows from it, highest ratio of
/// accepted mass to draft probability first (docs/mathematics.md, "Tickets").
///
/// From below: `pool` of length below the cut c, where a draft that wins is rejected and places do not
/// matter; the untouched part [floor, top); and a stack of gaps above it, the lowest at the back. The mass of
/// (a, b] is b^k − a^k above the floor and 0 in the pool. Each window begins at or below `top`, so serving n
/// tokens takes O(n) steps and one root per token.
class Leftover {
 public:
  Leftover(std::size_t k, Pieces& out) : k_(k), out_(out) {}

  /// Starts a block. Requires: pool ≥ 0, 0 ≤ floor.
  void open(double pool, double floor, double top);

  /// Cuts the lowest window of length p > 0 and mass m ≥ 0; within rounding, one exists. (For k = 1 all
  /// windows above the floor have one mass: it may be any of them.) Its pieces are added from the lowest up.
  void serve(double p, double m);

  /// Gives all that is left to the block's lowest token, whose draft probability is p > 0: from the lowest
  /// up.
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
