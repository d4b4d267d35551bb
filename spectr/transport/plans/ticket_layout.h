#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/transport/math/leftover.h"

namespace spectr {

/// A layout of the unit interval as tickets for k i.i.d. drafts. Token x owns pieces of total length p(x),
/// and the highest of k uniform points falls into those above the cut with probability m(x), the distribution
/// of the accepted token. Σ m = 1 − c^k is the largest acceptance of any plan. A token with q = 0 has one
/// piece, below the cut, so rounding never lets it win.
struct TicketLayout {
  struct Range {
    std::uint32_t begin = 0, count = 0;
  };

  double rejected = 0.0;  ///< c^k: the probability that the highest point lies below the cut c
  RecycledVector<double>
      residual;  ///< ∝ q − m, by index, 0 where q is 0; empty if no piece lies below the cut
  Pieces pieces;
  RecycledVector<Range> of;  ///< the pieces of index i, in ascending order; none if p is 0

  std::size_t top_piece(std::size_t index) const { return of[index].begin + of[index].count - 1; }
  bool accepts(std::size_t piece) const { return pieces.low[piece] != Pieces::below_cut; }
  /// Returns true if token a's piece is higher than b's. Tokens are served downwards: of two pieces at the
  /// same position (narrower than an ulp), the one that was cut first is higher.
  bool above(std::size_t a, std::size_t b) const {
    return pieces.low[a] > pieces.low[b] || (pieces.low[a] == pieces.low[b] && a < b);
  }
};

/// Lays out tickets for draft distribution p, target distribution q (by index, each with sum 1 up to
/// rounding) and k ≥ 1 drafts. Theorem and proof: docs/mathematics.md, "Tickets". Cost: O(V log V) for the
/// sort, O(V log k) for the rest. Creates at most 3n pieces in total for n tokens, fewer than 2n in practice;
/// a single token can own more than three.
TicketLayout lay_tickets(std::span<const double> p, std::span<const double> q, std::size_t k);

}  // namespace spectr
