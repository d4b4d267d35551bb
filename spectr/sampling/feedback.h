#pragma once

#include <optional>

#include "spectr/base/token.h"
#include "spectr/sampling/warp_options.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// The state of a Feedback after the tokens of a completion so far.
struct FeedbackState {
  double first = 0.0;   ///< mirostat: μ, the largest surprise; adaptive_p: the weighted sum of probabilities
  double second = 0.0;  ///< adaptive_p: the sum of the weights
};

/// A last sampler whose distribution depends on how likely the tokens before were: mirostat (Basu et al.,
/// arXiv 2007.14966) or llama.cpp's adaptive_p.
///
/// Theorem. Every lossless method stays lossless. *Why:* the state after a sequence is a function of that
/// sequence, as the distributions that it was drawn from are. So the target with feedback is a target like
/// any other. At the nodes of a draft's tree the state follows the path.
class Feedback {
 public:
  /// Returns the feedback that these options ask for; none where they do not.
  static std::optional<Feedback> of(const WarpOptions& options);

  /// The state before the first token of a completion.
  FeedbackState start() const;
  /// Returns the distribution that is sampled, given the one that the other samplers leave.
  Distribution apply(const Distribution& base, const FeedbackState& state) const;
  /// Returns the state after a token that was drawn from `sampled` = apply(base, state). A token without
  /// probability changes nothing.
  FeedbackState after(const FeedbackState& state, const Distribution& base, const Distribution& sampled,
                      Token token) const;

 private:
  enum class Kind { mirostat1, mirostat2, adaptive };

  Feedback(Kind kind, double target, double rate) : kind_(kind), target_(target), rate_(rate) {}
  Distribution preferred(const Distribution& base, const FeedbackState& state) const;

  Kind kind_;
  double target_;  // surprise in bits, or a probability
  double rate_;    // of learning, or of decay
};

}  // namespace spectr
