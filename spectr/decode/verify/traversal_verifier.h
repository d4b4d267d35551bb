#pragma once

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// Traversal verification of a tree, from the leaves to the root (arXiv 2505.12398). On a chain it is block
/// verification.
///
/// Every node u has a weight w(u) and a current target distribution q_u; w(root) = 1. A child with token x
/// gets weight min(1, w(u) q_u(x)/p_u(x)). The first leaf is accepted, with its whole path, with probability
/// w(leaf), and the next token is drawn from its target distribution. Otherwise it is deleted, and its parent
/// u gets S = Σ (w(u) q_u − p_u)₊, q_u ∝ (w(u) q_u − p_u)₊, w(u) ← S/(S + (1 − w(u))). The traversal
/// continues with u's next child, or tests u itself if none is left. Siblings are tested in the order drawn.
///
/// Copies of one token share a node. It takes the first copy's position and has the children of all copies.
/// Every later copy keeps its position as a leaf that is always rejected, because its rejection updates the
/// parent again. Dropping it would bias the output.
///
/// Theorem. The output has the target's distribution.
class TraversalVerifier final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

}  // namespace spectr
