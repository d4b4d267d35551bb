#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "spectr/decode/verify/verifiers.h"

namespace spectr {

/// A rule for one draft after one context (Yin et al., A Theoretical Perspective for Speculative Decoding,
/// 2024, algorithm 2): draft x passes with probability accept[x], and after a rejection the token comes from
/// `correction`.
struct RejectionRule {
  std::vector<double> accept;      ///< b, by token, in [0, 1]
  std::vector<double> correction;  ///< P, by token, ≥ 0, with a positive sum if a draft can be rejected
};

/// Algorithm 2 with arbitrary rules: the drafts of a chain are tested in order. The first rejected draft is
/// replaced by a token from P, and the block ends there. If none is rejected, the target adds a token. Lossy
/// unless the rules are valid.
///
/// Let p be the draft's distribution after a context, q the target's, R = Σ (1 − b) p. A tested token has the
/// distribution b p + R P, at a distance ½ Σ |b p + R P − q| from q. It is q for every context where
/// P = (q − b p)/R, which is possible iff b p ≤ q.
///
/// Unlike PlanWalk, it also ends the block if P draws the rejected draft again, as the paper's algorithm
/// does. The distribution of the output is the same, but the number of calls differs.
class RuleWalk final : public Verifier {
 public:
  /// Returns the rule after a context, which is never empty. The rule must outlive the walk.
  using Rules = std::function<const RejectionRule&(std::span<const Token> context)>;

  explicit RuleWalk(Rules rules) : rules_(std::move(rules)) {}

  /// Requires: a draft of one chain.
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;

 private:
  Rules rules_;
};

}  // namespace spectr
