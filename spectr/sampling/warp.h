#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "spectr/base/logits.h"
#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/sampling/feedback.h"
#include "spectr/sampling/logit_rule.h"
#include "spectr/sampling/warp_options.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// Turns a row of logits into the distribution that is sampled *and* verified. Draft and target use the same
/// object.
///
/// Steps in order: logit bias, penalties and DRY, the rule, then the other samplers in the order of the
/// options. Penalties that come after other samplers also follow the rule. Ties go to the lower id.
class Warp {
 public:
  /// Fails if an option is out of range, naming it and its value. The rule may be null.
  static Result<Warp> make(WarpOptions options, std::shared_ptr<const LogitRule> rule = nullptr);

  /// Returns the options, with every sampler that is not applied switched off.
  const WarpOptions& options() const { return options_; }
  const std::shared_ptr<const LogitRule>& rule() const { return rule_; }
  /// Returns how many of the last tokens a distribution depends on: 0 without penalties and rule.
  std::size_t reads_last() const {
    if (rule_) return std::numeric_limits<std::size_t>::max();
    return std::max(options_.has_penalties() ? options_.repeat_last_n : 0,
                    options_.dry.is_on() ? options_.dry.penalty_last_n : 0);
  }
  /// Returns true if the distribution of a row depends on the sequence so far.
  bool reads_history() const { return rule_ || options_.has_penalties() || options_.dry.is_on(); }

  /// Returns true if distributions of rows with this many logits can be short lists.
  bool filters(std::size_t logits) const {
    return !is_fixed_ || feedback_ || options_.temperature == 0.0 || cuts_to_k(logits) ||
           options_.top_p < 1.0 || options_.min_p > 0.0;
  }
  /// Returns true if every distribution is a point mass.
  bool is_greedy() const { return is_fixed_ && (options_.temperature == 0.0 || options_.top_k == 1); }

  /// The final sampler that depends on the tokens of the completion, if any. It is not part of
  /// distribution(); NodeDistributions applies it.
  const std::optional<Feedback>& feedback() const { return feedback_; }
  /// Returns the state of the feedback after the committed sequence.
  const FeedbackState& feedback_state() const { return feedback_state_; }
  void set_feedback_state(const FeedbackState& state) { feedback_state_ = state; }
  /// Resets the state to that before a completion.
  void restart_feedback() { feedback_state_ = feedback_ ? feedback_->start() : FeedbackState{}; }

  /// Returns the distribution after `history`, the last reads_last() tokens of the sequence: dense if the
  /// temperature is positive and no filter is on, short otherwise. `vocabulary` is the V of the distribution;
  /// tokens beyond the row have probability 0. Requires: vocabulary ≥ logits.size(). Fails if a logit is NaN
  /// or +∞, or if all are −∞. Cost: O(V), plus sorting of the kept tokens.
  Result<Distribution> distribution(const Logits& logits, std::span<const Token> history,
                                    std::size_t vocabulary) const;
  /// Returns distribution() for a draft model's row. If the row lacks every token that the rule allows, the
  /// rule is not applied; selection is lossless for any draft distribution.
  Result<Distribution> draft_distribution(const Logits& logits, std::span<const Token> history,
                                          std::size_t vocabulary) const;

 private:
  Warp(WarpOptions options, std::shared_ptr<const LogitRule> rule);
  bool cuts_to_k(std::size_t logits) const { return options_.top_k > 0 && options_.top_k < logits; }
  /// Applies the biases and the penalties that come first.
  void penalise(std::span<double> logits, std::span<const Token> history) const;
  RecycledVector<double> penalised(const Logits& row, std::span<const Token> history) const;
  Result<Distribution> distribution_of(const Logits& logits, std::span<const Token> history,
                                       std::size_t vocabulary) const;
  Result<Distribution> fixed_distribution(const Logits& logits, std::size_t vocabulary) const;

  WarpOptions options_;
  std::shared_ptr<const LogitRule> rule_;
  RecycledVector<Sampler> samplers_;  // active ones, in order
  std::size_t penalties_ = 0;         // number of leading penalties in samplers_
  bool is_fixed_ = true;  // the other samplers are a subset of top-k, top-p, min-p, temperature, in order
  std::optional<Feedback> feedback_;
  FeedbackState feedback_state_;
};

}  // namespace spectr
