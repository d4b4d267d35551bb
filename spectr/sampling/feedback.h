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

/// A final sampler whose distribution depends on the probabilities of the previous tokens: mirostat (Basu et
/// al., arXiv 2007.14966) or llama.cpp's adaptive_p.
///
/// Theorem. Every lossless method stays lossless. *Why:* the state after a sequence is a function of that
/// sequence, because the distributions it was drawn from are. The target with feedback is therefore an
/// ordinary target. At the nodes of a draft tree the state follows the path.
class Feedback {
 public:
  /// Returns the feedback that these options request, or nullopt if they request none.
  static std::optional<Feedback> of(const WarpOptions& options);

  /// Returns the state before the first token of a completion.
  FeedbackState start() const;
  /// Returns the distribution to sample from, given the one that the other samplers return.
  Distribution apply(const Distribution& base, const FeedbackState& state) const;
  /// Returns the state after a token that was drawn from `sampled` = apply(base, state). A token of
  /// probability 0 leaves the state unchanged.
  FeedbackState after(const FeedbackState& state, const Distribution& base, const Distribution& sampled,
                      Token token) const;

 private:
  enum class Kind { mirostat1, mirostat2, adaptive };

  Feedback(Kind kind, double target, double rate) : kind_(kind), target_(target), rate_(rate) {}
  Distribution preferred(const Distribution& base, const FeedbackState& state) const;

  Kind kind_;
  double target_;  // a surprise in bits, or a probability
  double rate_;    // the learning rate, or the decay
};

}  // namespace spectr
