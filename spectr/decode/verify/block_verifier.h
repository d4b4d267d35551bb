#pragma once

#include <span>

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// Block verification of one chain (arXiv 2403.10444): the accepted length is decided for the chain as a
/// whole.
///
/// c₀ = 1, c_i = min(1, c_{i−1} q_i(x_i)/p_i(x_i)); S_i = Σ_x (c_i q_{i+1}(x) − p_{i+1}(x))₊;
/// h_i = S_i/(S_i + (1 − c_i)) for i < L, h_L = c_L. The tests run from i = L down and pass with probability
/// h_i; τ is the first that passes, 0 if none does. The next token is drawn ∝ (c_τ q_{τ+1} − p_{τ+1})₊, or
/// from the target if τ = L.
///
/// Theorem. The output has the target's distribution, and the expected accepted length is the largest of any
/// verification of one chain.
class BlockVerifier final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

/// Applies block verification to the path through `nodes` of the draft's tree, whose i-th token was drawn
/// from p[i]. Requires: nodes.size() == p.size(), the path begins below the root, and the distributions
/// outlive the call.
Result<Verdict> verify_block(const BlockStart& start, const Draft& draft, std::span<const NodeId> nodes,
                             std::span<const Distribution* const> p, NodeDistributions& target,
                             Choices& choices);

}  // namespace spectr
