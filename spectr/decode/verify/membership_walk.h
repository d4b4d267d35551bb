#pragma once

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// Verifies a tree of tokens that were chosen, not drawn: it draws tokens from the target as long as they are
/// nodes of the tree. The first other token is the correction; below a leaf it is the bonus.
///
/// Theorem. If the tree is a function of the sequence, every token has the target's distribution, and the
/// block has 1 + Σ q(v) tokens in expectation, summed over the nodes v of the tree, where q(v) is the
/// target's probability of the path to v. No lossless verifier has more with this tree. *Why:* every token is
/// a draw from the target after the path above it. A lossless verifier accepts a path with at most its
/// probability under the target; otherwise the sequence would begin with it too often.
class MembershipWalk final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

}  // namespace spectr
