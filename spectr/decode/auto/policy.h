#pragma once

#include <algorithm>
#include <cstddef>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/decode/drafter.h"
#include "spectr/decode/ngram.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// The origin of a block's drafts.
enum class DraftOrigin { none, model, ngrams };

/// One way to make a block (an arm, in terms of bandits), and its forecast.
struct Choice {
  DraftOrigin origin = DraftOrigin::none;
  std::size_t model = 0;  ///< index of the draft model, if one drafts
  DraftShape shape = {};
  double min_reach = 0.0;  ///< where drafts stop before that length; see TreeDrafter
  double tokens = 1.0;     ///< expected tokens of the block
  double seconds = 0.0;    ///< expected seconds of the block

  double rate() const { return tokens / seconds; }
  double seconds_per_token() const { return seconds / tokens; }
};

/// The regret budget bounds the total cost of drafts in a completion, so that none takes much longer than
/// plain decoding. Regret is the additional time of blocks over plain decoding of the same tokens.
///
/// Theorem. By the costs and with the default params, not counting the draft models' processing of the
/// sequence, a completion that runs to its limit of n tokens takes at most max(1.03 n, n + 5/4) plain tokens
/// plus the credit, which is at most as much again, whatever the outcome of its drafts. *Why:* a block loses
/// most if none of its drafts is accepted and no two of its draft sequences share a prefix; this loss is at
/// most 3/10 of the remaining budget.
///
/// One block may not risk the whole budget, because losing all of it would leave nothing for later blocks,
/// and a good draft model can miss, too. For the same reason regret is credited if there is evidence for the
/// drafts. A credit does not increase the budget of a block: a few contexts do not determine the best draft
/// length.
class RegretBudget {
 public:
  explicit RegretBudget(const AutoParams& params = {}) : params_(params) {}

  /// Returns by how many seconds the next block may exceed a plain one, with `left` tokens to emit.
  double of_block(const Choice& plain, std::size_t left) const;

  /// Exempts regret up to this number of seconds; the largest credit applies.
  void credit(double seconds) { credit_ = std::max(credit_, seconds); }

  /// Charges a block with its seconds and tokens.
  void charge(double seconds, std::size_t tokens, const Choice& plain) {
    emitted_ += tokens;
    regret_ += seconds - static_cast<double>(tokens) * plain.seconds;
  }

 private:
  AutoParams params_;
  std::size_t emitted_ = 0;
  double regret_ = 0.0;  // seconds; negative if drafts have saved time
  double credit_ = 0.0;
};

/// Returns the tokens of a block, limited to the remaining ones.
inline double capped(double tokens, std::size_t left) {
  return std::min(tokens, static_cast<double>(left));
}

/// Returns the support of the distributions that a warp produces.
Support support_of(const Warp& warp, std::size_t vocabulary);

/// The forecast of a block: the expected rate of the choices that need only the target,
///
///   tokens / (target pass of 1 + nodes rows + distributions and plans),
///
/// and the budget of the block. It assumes a sequence of `length` tokens, rounded down to a step, with `left`
/// tokens to emit. Costs and params must outlive it.
class Forecast {
 public:
  Forecast(const Costs& costs, const AutoParams& params, Support support, std::size_t length,
           std::size_t left, const RegretBudget& budget)
      : costs_(costs),
        params_(params),
        support_(support),
        depth_(length / params.depth_step * params.depth_step),
        budget_(budget.of_block(plain(), left)) {}

  Choice plain() const;
  /// Returns true if `choice` has a better rate than `best`, by a margin if that is plain decoding.
  bool beats(const Choice& choice, const Choice& best) const {
    return choice.rate() > (best.origin == DraftOrigin::none ? params_.margin : 1.0) * best.rate();
  }
  /// Returns by how many seconds the block may exceed a plain one.
  double budget() const { return budget_; }
  /// Returns true if the budget allows a block of this duration.
  bool affords(double seconds) const { return seconds - plain().seconds <= budget_; }
  /// Returns drafts by n-grams if they have a better rate than `best`, otherwise `best`.
  Choice best_by_ngrams(const NgramEstimate& ngrams, std::size_t left, Choice best) const;

  /// Returns the seconds of the target's pass over `nodes` nodes, of a distribution for every token and, if
  /// distributions are dense, of a plan that takes `plan` seconds for every token but the bonus.
  double verification_seconds(double nodes, std::size_t length, double tokens, double plan) const {
    return costs_.target.seconds(1.0 + nodes, static_cast<double>(depth_)) +
           token_seconds(length, tokens, plan);
  }
  /// Returns the part of verification_seconds() without the pass.
  double token_seconds(std::size_t length, double tokens, double plan) const {
    const double plans = dense() ? plan * capped(tokens, length) : 0.0;
    return (distribution_seconds() + costs_.select.likelihood) * tokens + plans;
  }
  /// Returns the seconds of computing one distribution and drawing a token from it.
  double distribution_seconds() const {
    return dense() ? costs_.select.distribution : costs_.select.filtered;
  }

  const Costs& costs() const { return costs_; }
  Support support() const { return support_; }
  bool dense() const { return support_ == Support::whole; }
  /// Returns true if several draft sequences can differ.
  bool sequences_differ() const { return support_ != Support::point; }
  /// Returns the number of tokens that passes are assumed to attend to.
  std::size_t depth() const { return depth_; }

 private:
  const Costs& costs_;
  const AutoParams& params_;
  Support support_;
  std::size_t depth_;
  double budget_;
};

}  // namespace spectr
