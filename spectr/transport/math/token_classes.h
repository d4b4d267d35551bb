#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "spectr/base/recycled.h"

namespace spectr {

/// Two distributions p, q made into a few classes of tokens, for the optimum of k i.i.d. drafts: class c has
/// the ratio q/p of edges[c], and each token is split between the classes next to its own ratio,
///
///   (p, q) = (1 − s) (p, edge_c p) + s (p, edge_{c+1} p),   s = (q/p − edge_c) / (edge_{c+1} − edge_c).
///
/// A plan for the classes is one for the tokens: a draft first picks its class. It accepts as much as the
/// best plan for the tokens does, to 1e-14 (docs/mathematics.md, "Classes of tokens"). What a token has of q
/// beyond max_ratio p is left to the residual.
struct TokenClasses {
  static constexpr double max_loss = 1e-14;

  /// Where a token of given ratio goes: to class `low` with probability 1 − s, to the next one with s.
  struct Share {
    std::size_t low;
    double s;
  };

  RecycledVector<double> edges;  ///< ascending
  RecycledVector<double> p, q;   ///< of the classes, and of what no draft reaches: one entry more, with p = 0

  std::size_t size() const { return edges.size(); }
  double max_ratio() const { return edges.back(); }
  /// Requires: ratio ≥ 0, of one of the tokens.
  Share share(double ratio) const;
};

/// The classes of at most a few hundred edges, more where the optimum is at a ratio that many tokens have
/// nearly. Requires: p.size() == q.size(), 1 ≤ k ≤ 2¹⁶, each with sum 1 up to rounding. Cost: one pass, and
/// over the tokens near the optimum's threshold a few more.
TokenClasses classes_of(std::span<const double> p, std::span<const double> q, std::size_t k);

}  // namespace spectr
