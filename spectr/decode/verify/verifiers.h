#pragma once

#include "spectr/base/choices.h"
#include "spectr/base/result.h"
#include "spectr/decode/block.h"
#include "spectr/decode/draft.h"
#include "spectr/decode/node_distributions.h"

namespace spectr {

/// Selects among the drafts, given the target's distributions.
class Verifier {
 public:
  virtual ~Verifier() = default;

  /// Returns the accepted path and the token after it: at most start.left tokens, and none after a token that
  /// ends the completion. `target` has the distribution of every node of the draft's tree.
  virtual Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                 Choices& choices) const = 0;
};

// The lossy verifiers follow; each lossless one has its own file.

/// Accepts the path that the drafter has settled on with the target's own distributions (MTJD). Nothing is
/// verified, and the bias of the output is unknown.
class AcceptSettled final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

/// The distributions by which a JointThreshold compares joint likelihoods.
enum class JointLaw {
  warped,  ///< the sampled ones: a token that the target's filters exclude ends the accepted prefix
  raw,     ///< the models' own, at temperature 1 and without filters (MTAD, arXiv 2407.09722, footnote 3)
};

/// MTAD's verification (arXiv 2407.09722, section 3.2; lossy), after a BeamDrafter with the same law. Among
/// the prefixes of all chains of the tree, it accepts the longest one whose joint likelihoods satisfy
/// min(1, Π_{j≤i} q(x_j|x_{<j}) / p(x_{1:i})) > τ, without stopping at the first failure; ties go to the
/// first drawn. Then it draws one token from the target's distribution after it. 0 ≤ τ ≤ 1.
///
/// τ = 0 accepts the longest prefix of positive target probability. As τ → 1 only prefixes remain that are at
/// least as likely under the target as under the draft. τ = 1 accepts nothing and is plain decoding. For τ <
/// 1 the output does not have the target's distribution; its bias depends on whole sequences and is not
/// computed here.
class JointThreshold final : public Verifier {
 public:
  explicit JointThreshold(double tau, JointLaw law = JointLaw::warped) : tau_(tau), law_(law) {}

  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;

 private:
  double tau_;
  JointLaw law_;
};

/// BiLD's verification (arXiv 2302.07863; lossy), after a ConfidentDrafter: it rolls back to the first token
/// with −ln q(x) above the rollback threshold τ₂ and draws that token from the target. If there is none, the
/// target adds a token.
class Rollback final : public Verifier {
 public:
  explicit Rollback(double rollback) : rollback_(rollback) {}

  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;

 private:
  double rollback_;
};

}  // namespace spectr
