#pragma once

#include "spectr/base/choices.h"
#include "spectr/base/result.h"
#include "spectr/decode/block.h"
#include "spectr/decode/draft.h"
#include "spectr/decode/node_distributions.h"

namespace spectr {

/// Chooses among what was drafted, given the target's distributions.
class Verifier {
 public:
  virtual ~Verifier() = default;

  /// The accepted path and the token after it: at most start.left tokens, and none after a token that ends
  /// the completion. `target` knows the distribution of every node of the draft's tree.
  virtual Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                                 Choices& choices) const = 0;
};

// The lossy verifiers follow; each lossless one has a file of its own.

/// Takes the path that the drafter has settled on with the target's own distributions (MTJD): nothing is
/// verified, and the bias of the output is not known.
class AcceptSettled final : public Verifier {
 public:
  Result<Verdict> select(const BlockStart& start, const Draft& draft, NodeDistributions& target,
                         Choices& choices) const override;
};

/// By which distributions a JointThreshold compares joint likelihoods.
enum class JointLaw {
  warped,  ///< those that are sampled from: a token that the target's filters cut ends what can be accepted
  raw,     ///< the models' own, at temperature 1 and without filters (MTAD, arXiv 2407.09722, footnote 3)
};

/// MTAD's verification (arXiv 2407.09722, section 3.2; lossy), behind a BeamDrafter of the same law: of one
/// chain, or of all those of a tree, the longest prefix whose joint likelihoods satisfy
/// min(1, Π_{j≤i} q(x_j|x_{<j}) / p(x_{1:i})) > τ, not stopping at the first failure, of equally long ones
/// the first drawn; then one token from the target's distribution after it. 0 ≤ τ ≤ 1.
///
/// τ = 0 takes the longest prefix of positive target probability; as τ → 1 only prefixes remain that the
/// target finds at least as likely as the draft does; τ = 1 takes nothing, and is plain decoding. For τ < 1
/// the distribution of the output is not the target's; its bias depends on whole sequences and is not
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

/// BiLD's verification (arXiv 2302.07863; lossy), behind a ConfidentDrafter: it rolls back to the first token
/// with −ln q(x) above the rollback threshold τ₂ and draws it from the target; where there is none, the
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
