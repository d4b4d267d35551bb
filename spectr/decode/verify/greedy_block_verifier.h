#pragma once

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// Greedy multi-path block verification of K independent draft sequences (GBV, arXiv 2602.16961): block
/// verification of the sequence that the target prefers most.
///
/// Tokens are ordered by q_u/p_u at every node u, ties by id. The lexicographically largest of the K
/// sequences is a draw from p′(x_{1:i}) = (C_i + p(x_{1:i}))^K − C_i^K, where C_i is the probability under p
/// of a smaller prefix of length i: C_0 = 0, C_i = C_{i−1} + p(x_{1:i−1}) p(tokens ordered before x_i |
/// x_{1:i−1}). It is verified as a block (block_verifier.h) against the rows p′(· | x_{1:i}).
///
/// Theorem. The output has the target's distribution: p′ is the distribution of the sequence that is
/// verified.
///
/// More sequences can reduce the acceptance: as K grows, nearly always the same sequence is chosen. With K =
/// 1 it is `block`. Cost: O(V log V) per level.
class GreedyBlockVerifier final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

}  // namespace spectr
