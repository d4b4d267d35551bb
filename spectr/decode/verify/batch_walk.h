#pragma once

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// Batch speculative decoding (Yin et al., A Theoretical Perspective for Speculative Decoding, 2024,
/// algorithm 4): recursive rejection over the first tokens of all draft sequences; once one is accepted, only
/// *its* sequence continues, with ordinary single-draft tests.
///
/// Theorem. The output has the target's distribution: below the first token this is speculative decoding, and
/// recursive rejection is a valid plan. The paper's exact expected rejections (docs/mathematics.md) are those
/// of this verifier; with the same plan, a walk over all draft sequences that are still possible accepts at
/// least as much.
class BatchWalk final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

}  // namespace spectr
