#pragma once

#include <memory>
#include <span>

#include "spectr/decode/verify/verifiers.h"
#include "spectr/transport/partial_plan.h"

namespace spectr {

/// In which order conditional verification tries the children of a node.
enum class ChildOrder {
  drawn,
  /// The order with the largest Σ (1 − used) α_y(a_y) over the children y, where α_y(w) is the mass that the
  /// plan at y accepts: the expected number of tokens accepted on the next level. Ties go to the order drawn.
  /// Reads the rows of the children, never what was drawn below them. For up to 6 different children; more
  /// are tried as drawn.
  look,
};

/// Conditional verification of a tree of drafts: every child of a node is verified with its whole subtree, in
/// turn, under the condition that the children before it were rejected.
///
/// verify(u, w) either emits a continuation of u or rejects u. No draws at u: u is accepted with probability
/// w, and the next token drawn from q_u. Else a plan from the draws X at u to the mass w·q_u gives A_y = P(y
/// is accepted | X) for every different y in X. One after the other, verify(y, a_y) is called with a_y = A_y
/// / (1 − Σ A of those before y), until one emits. If none does, u is accepted with probability R / (R + 1 −
/// w), and the next token drawn ∝ res; else u is rejected. A block is verify(root, 1).
///
/// Theorem. verify(u, w) emits continuations with distribution w·q(·|u) and rejects u with probability 1 − w,
/// over the draws below u and its own choices; so the output has the target's distribution. *Proof* by
/// induction from the leaves, where it holds by definition. At u, given X, child y is verified with
/// probability 1 − Σ A of those before it, if every child rejects with the probability 1 − a that the
/// induction gives, independently, because what was drawn below different children is independent given X. So
/// y emits with probability A_y, in all E[A_y] = w q_u(y) − res(y) by the plan, its continuations distributed
/// as q(·|uy). None emits with probability E[1 − Σ A] = R + 1 − w, which is split into R and 1 − w: token x
/// gets res(x), and u is rejected with 1 − w. ∎
///
/// With one chain and maximal coupling it has the distribution of block verification, whose expected length
/// is the largest that one chain allows; with L = 1 and tickets that of the optimal plan. Copies of a draw
/// are one child that holds all that was drawn below them. Any order of the children is lossless that is
/// chosen without looking below them. Cost: scalars on the way down a chain, a plan at each node with several
/// draws, O(V) on the way back from a rejection.
class ConditionalVerifier final : public Verifier {
 public:
  /// Makes the plan of a node from its draws, in the order drawn, their distribution p, the mass w and the
  /// target q. Draws and distributions outlive it.
  using MakePlan = std::unique_ptr<PartialPlan> (*)(std::span<const Token> draws, const Distribution& p,
                                                    double w, const Distribution& q);

  /// For draws from p, independent of each other: tickets, which no plan surpasses at a node.
  static std::unique_ptr<PartialPlan> independent(std::span<const Token> draws, const Distribution& p,
                                                  double w, const Distribution& q);
  /// For the likeliest tokens and one draw of the others (UniVer, arXiv 2605.04543).
  static std::unique_ptr<PartialPlan> likeliest(std::span<const Token> draws, const Distribution& p, double w,
                                                const Distribution& q);

  explicit ConditionalVerifier(MakePlan make_plan, ChildOrder order = ChildOrder::drawn)
      : make_plan_(make_plan), order_(order) {}

  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;

 private:
  MakePlan make_plan_;
  ChildOrder order_;
};

}  // namespace spectr
