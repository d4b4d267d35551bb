#pragma once

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// Traversal verification of a tree, from the leaves to the root (arXiv 2505.12398); on a chain it is block
/// verification.
///
/// Every node u carries a weight w(u) and a current target distribution q_u; w(root) = 1. A child with token
/// x gets min(1, w(u) q_u(x)/p_u(x)). The first leaf is accepted, with its whole path, with probability
/// w(leaf), and the next token drawn from its target distribution. Otherwise it is deleted, and its parent u
/// gets S = Σ (w(u) q_u − p_u)₊, q_u ∝ (w(u) q_u − p_u)₊, w(u) ← S/(S + (1 − w(u))). The traversal goes on
/// with u's next child, or tests u itself where none is left. Siblings are tested in the order drawn.
///
/// Copies of one token share a node. It stands at the first copy's place and carries the children of all
/// copies; every later copy keeps its place as a leaf that is always rejected, because its rejection updates
/// the parent once more. Dropping it would bias the output.
///
/// Theorem. The output has the target's distribution.
class TraversalVerifier final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

}  // namespace spectr
