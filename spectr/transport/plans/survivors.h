#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace spectr {

/// The distribution of the number of survivors of k i.i.d. drafts, for k = 1 … max_drafts. Survivors are the
/// drafts that equal the token that the optimal plan returned; a walk continues below them.
class Survivors {
 public:
  static constexpr std::size_t max_drafts = 16;

  /// Returns P(n of k drafts equal the token | the plan returned the token). Requires: 1 ≤ n ≤ k ≤
  /// max_drafts.
  double operator()(std::size_t k, std::size_t n) const { return rows_[index(k, n)]; }
  double& operator()(std::size_t k, std::size_t n) { return rows_[index(k, n)]; }

  /// Returns P(at least one of k drafts equals the token | the plan returned the token).
  double any(std::size_t k) const {
    double sum = 0.0;
    for (std::size_t n = 1; n <= k; ++n) sum += (*this)(k, n);
    return sum;
  }

 private:
  static constexpr std::size_t index(std::size_t k, std::size_t n) { return k * (k - 1) / 2 + n - 1; }

  std::array<double, max_drafts*(max_drafts + 1) / 2> rows_ = {};
};

/// Returns the survivors of drafts from p if the optimal plan for target q has returned token y.
///
/// Theorem. Let G(u) and H(u) be the total lengths of the pieces below u (tickets.h) that token y owns and
/// that other tokens own, c the cut, and r the residual distribution, which is used with probability c^k.
/// Then
///
///   q(y) P(N = n | y) = C(k, n) [Σ_(a, b] H(b)^(k−n) (G(b)^n − G(a)^n) + G(c)^n H(c)^(k−n) r(y)],
///
/// where the sum is over y's pieces (a, b] above the cut. *Why:* the drafts are points of the unit interval.
/// In the first case n of them lie in y's pieces, the highest in (a, b], and the others lie below it. In the
/// second case all lie below the cut, and the residual token is y.
///
/// p and q are given by index, each with sum 1 up to rounding. If q[y] = 0, all probabilities are 0. Numbers
/// of drafts above K = `max_drafts` are left out. Cost: a ticket layout for each k up to K, O(K V log V).
Survivors survivors(std::span<const double> p, std::span<const double> q, std::size_t y,
                    std::size_t max_drafts = Survivors::max_drafts);

}  // namespace spectr
