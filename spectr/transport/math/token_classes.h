#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "spectr/base/recycled.h"

namespace spectr {

/// Two distributions p, q reduced to a few classes of tokens, for the optimum of k i.i.d. drafts. Class c has
/// the ratio q/p = edges[c], and each token is split between the two classes next to its own ratio,
///
///   (p, q) = (1 − s) (p, edge_c p) + s (p, edge_{c+1} p),   s = (q/p − edge_c) / (edge_{c+1} − edge_c).
///
/// A plan for the classes is a plan for the tokens: each draft first picks its class. It accepts as much as
/// the best plan for the tokens, up to 1e-14 (docs/mathematics.md, "Classes of tokens"). A token's q-mass
/// beyond max_ratio p is left to the residual.
struct TokenClasses {
  static constexpr double max_loss = 1e-14;

  /// The split of a token: to class `low` with probability 1 − s, to the next class with probability s.
  struct Share {
    std::size_t low;
    double s;
  };

  RecycledVector<double> edges;  ///< ascending
  RecycledVector<double> p, q;   ///< of the classes; one more entry, with p = 0, for unreachable mass

  std::size_t size() const { return edges.size(); }
  double max_ratio() const { return edges.back(); }
  /// Returns the split of a token. Requires: ratio ≥ 0, of one of the tokens.
  Share share(double ratio) const;
};

/// Returns the classes for at most a few hundred edges; more if many tokens have nearly the ratio of the
/// optimum's threshold. Requires: p.size() == q.size(), 1 ≤ k ≤ 2¹⁶, each sum is 1 up to rounding. Cost: one
/// pass, and a few passes over the tokens near the threshold.
TokenClasses classes_of(std::span<const double> p, std::span<const double> q, std::size_t k);

}  // namespace spectr
