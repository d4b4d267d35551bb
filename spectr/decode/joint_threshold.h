#pragma once

#include "spectr/decode/verifier.h"

namespace spectr {

/// MTAD's verification (arXiv 2407.09722, section 3.2; lossy): of one chain, the longest prefix whose joint
/// likelihoods satisfy min(1, Π_{j≤i} q(x_j|x_{<j}) / p(x_{1:i})) > τ, not stopping at the first failure;
/// then one token from the target's law after it. 0 ≤ τ < 1.
///
/// τ = 0 takes the longest prefix of positive target probability; as τ → 1 only prefixes remain that the
/// target finds at least as likely as the draft does. The law of the output is not the target's; its bias
/// depends on whole sequences and is not computed here.
class JointThreshold final : public Verifier {
 public:
  explicit JointThreshold(double tau) : tau_(tau) {}

  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeLaws& target,
                         Choices& choices) const override;

 private:
  double tau_;
};

}  // namespace spectr
