#pragma once

#include <memory>
#include <span>

#include "spectr/decode/verify/verifiers.h"
#include "spectr/transport/partial_plan.h"

namespace spectr {

/// The order in which conditional verification tries the children of a node.
enum class ChildOrder {
  drawn,
  /// The order with the largest Σ (1 − used) α_y(a_y) over the children y, where α_y(w) is the mass that the
  /// plan at y accepts: the expected number of tokens accepted on the next level. Ties go to the order drawn.
  /// It depends on the rows of the children, never on the draws below them. Used for up to 6 different
  /// children; more are tried in the order drawn.
  look,
};

/// Conditional verification of a tree of drafts: the children of a node are verified one after another, each
/// with its whole subtree, conditional on the rejection of the earlier ones.
///
/// verify(u, w) either emits a continuation of u or rejects u. If there are no draws at u, u is accepted with
/// probability w, and the next token drawn from q_u. Otherwise a plan from the draws X at u to the mass w·q_u
/// gives A_y = P(y is accepted | X) for every different y in X. In turn, verify(y, a_y) is called with
/// a_y = A_y / (1 − Σ A of earlier children), until one emits. If none does, u is accepted with probability
/// R / (R + 1 − w), and the next token drawn ∝ res; otherwise u is rejected. A block is verify(root, 1).
///
/// Theorem. verify(u, w) emits continuations with distribution w·q(·|u) and rejects u with probability 1 − w,
/// over the draws below u and its own choices; so the output has the target's distribution. *Proof* by
/// induction from the leaves, where it holds by definition. At u, given X, child y is verified with
/// probability 1 − Σ A of the earlier children: by induction every child rejects with probability 1 − a,
/// independently, because the draws below different children are independent given X. So y emits with
/// probability A_y, in total E[A_y] = w q_u(y) − res(y) by the plan, and its continuations are distributed as
/// q(·|uy). No child emits with probability E[1 − Σ A] = R + 1 − w. This is split into R and 1 − w: token x
/// gets res(x), and u is rejected with probability 1 − w. ∎
///
/// With one chain and maximal coupling it has the distribution of block verification, whose expected length
/// is the maximum for one chain; with L = 1 and tickets it has that of the optimal plan. Copies of a token
/// are one child with all draws below them. Any order of the children is lossless if it does not depend on
/// the draws below them. Cost: scalar operations on the way down a chain, a plan at each node with several
/// draws, and O(V) on the way back from a rejection.
class ConditionalVerifier final : public Verifier {
 public:
  /// Makes the plan of a node from its draws, in the order drawn, their distribution p, the mass w and the
  /// target q. Draws and distributions must outlive the plan.
  using MakePlan = std::unique_ptr<PartialPlan> (*)(std::span<const Token> draws, const Distribution& p,
                                                    double w, const Distribution& q);

  /// Makes plans for independent draws from p: tickets, which are optimal at a node.
  static std::unique_ptr<PartialPlan> independent(std::span<const Token> draws, const Distribution& p,
                                                  double w, const Distribution& q);
  /// Makes plans for the likeliest tokens and one draw of the others (UniVer, arXiv 2605.04543).
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
