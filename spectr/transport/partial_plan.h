#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "spectr/base/choices.h"
#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// A transport plan from k draws to a target of mass w ≤ 1: w·q(x) for every token x, and 1 − w for a
/// rejection, which no draw can produce. Conditional verification builds one at every node
/// (conditional_verifier.h).
///
/// Accepted draws and the residual together serve the target: E[A_x] + res(x) = w·q(x) for every token x, and
/// no draw is accepted with probability R + 1 − w, R = Σ res. Not thread-safe.
class PartialPlan : public RecycledObject {
 public:
  virtual ~PartialPlan() = default;

  /// Returns A_i = P(draw i is accepted | draws) for every i. For duplicate tokens only the sum over the
  /// copies is meaningful. Requires: k draws from the plan's drafting.
  virtual RecycledVector<double> accepted(std::span<const Token> draws) const = 0;

  /// Draws the outcome if no draw is accepted: x with probability res(x) / (R + 1 − w), or nullopt for a
  /// rejection. If rounding leaves no mass at all, draws x from q. Cost: O(V) on first use.
  virtual std::optional<Token> draw_rejected(Choices& choices) const = 0;
};

/// The maximum acceptance of any plan from k i.i.d. draws for a target of mass w: α*(w) = 1 + min_j (w Q_j −
/// P_j^k), over the tokens p reaches, by q/p, ties by id (SpecTr, arXiv 2310.15141, Lemma 3, for w = 1).
class PartialAcceptance {
 public:
  /// Cost: O(V log V).
  PartialAcceptance(const Distribution& p, std::size_t k, const Distribution& q);

  /// Returns α*(w). Cost: O(V).
  double operator()(double w) const;

 private:
  RecycledVector<double> P_k_, Q_;  // P_j^k and Q_j, j ≥ 1
};

/// Builds the plan for one draw X ~ p: A = min(1, w q(X)/p(X)), res = (w q − p)₊. For w = 1 it is the maximal
/// coupling. Cost: O(1) until a rejection. The distributions must outlive the plan.
std::unique_ptr<PartialPlan> build_partial_coupling(const Distribution& p, double w, const Distribution& q);

/// Builds the plan for the k − 1 likeliest tokens T of p and one draw m from s, which is p without T,
/// renormalised (UniVer, arXiv 2605.04543): res = (w q − s)₊ outside T and 0 on T; with
/// Z = 1 − w + R + w q(T), A_m = min(1, w q(m)/s(m)) and A_t = w q(t)(1 − A_m)/Z. If the draws are all tokens
/// that p reaches, A_t = w q(t) and res = w q outside T. `draws` must be in the order of
/// Drafting::likeliest_and_one. Cost: O(V). The distributions must outlive the plan.
std::unique_ptr<PartialPlan> build_partial_likeliest(std::span<const Token> draws, const Distribution& p,
                                                     double w, const Distribution& q);

}  // namespace spectr
