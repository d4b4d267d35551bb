#pragma once

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// Verifies a tree of tokens that were chosen, not drawn: it draws tokens from the target as long as they are
/// nodes of the tree. The first that is not is the correction; below a leaf comes the bonus.
///
/// Theorem. If the tree is a function of the sequence, every token has the target's distribution, and the
/// block has 1 + Σ q(v) tokens in expectation, the sum over the nodes v of the tree, q(v) the target's
/// probability of the path to v. No lossless verifier has more with this tree. *Why:* every token is a draw
/// from the target after the path above it. A lossless verifier accepts a path with probability at most that
/// of the target, or the text would begin with it too often.
class MembershipWalk final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

}  // namespace spectr
