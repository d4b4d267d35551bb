#pragma once

#include <algorithm>
#include <cstddef>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/decode/drafter.h"
#include "spectr/decode/ngram.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// Where the drafts of a block come from.
enum class DraftOrigin { none, model, ngrams };

/// One of the ways to make a block (an arm, as bandits have them), and what it promises.
struct Choice {
  DraftOrigin origin = DraftOrigin::none;
  std::size_t model = 0;  ///< which one of the draft models, where one drafts
  DraftShape shape = {};
  double min_reach = 0.0;  ///< where drafts stop before that length: see TreeDrafter
  double tokens = 1.0;     ///< expected tokens of the block
  double seconds = 0.0;    ///< expected seconds of the block

  double rate() const { return tokens / seconds; }
  double seconds_per_token() const { return seconds / tokens; }
};

/// The regret budget: what drafts may cost a completion in all, so that none takes much longer than by plain
/// decoding. Regret is the time that blocks took beyond plain decoding's for the same tokens.
///
/// Theorem. By the costs and with the default params, what is read of the sequence to draft apart, a
/// completion that goes on to its limit of n tokens takes no longer than max(1.03 n, n + 5/4) plain tokens
/// and what is credited, which is at most as much again, whatever becomes of its drafts. *Why:* a block loses
/// most where none of its drafts is accepted and no two of its draft sequences begin alike; so much is at
/// most 3/10 of what may still be lost.
///
/// One block may not risk all of it, because first tries that lose everything leave nothing for later ones: a
/// good draft model misses, too. For the same reason regret is credited where something speaks for the
/// drafts. A credit does not make the budget of a block larger: a few contexts do not tell how long drafts
/// should be.
class RegretBudget {
 public:
  explicit RegretBudget(const AutoParams& params = {}) : params_(params) {}

  /// The seconds that the next block may take longer than a plain one, with `left` tokens to emit.
  double of_block(const Choice& plain, std::size_t left) const;

  /// Regret of up to so many seconds does not count; of several such numbers the largest holds.
  void credit(double seconds) { credit_ = std::max(credit_, seconds); }

  /// Charges a block that took so long and brought so many tokens.
  void charge(double seconds, std::size_t tokens, const Choice& plain) {
    emitted_ += tokens;
    regret_ += seconds - static_cast<double>(tokens) * plain.seconds;
  }

 private:
  AutoParams params_;
  std::size_t emitted_ = 0;
  double regret_ = 0.0;  // seconds; below 0 where drafts have won time
  double credit_ = 0.0;
};

/// The tokens of a block that brings no more than are left.
inline double capped(double tokens, std::size_t left) {
  return std::min(tokens, static_cast<double>(left));
}

/// The support of the distributions that a warp makes.
Support support_of(const Warp& warp, std::size_t vocabulary);

/// The forecast of a block: what the choices promise that take nothing but the target,
///
///   tokens / (target pass of 1 + nodes rows + distributions and plans),
///
/// and what the block may risk. It counts on a sequence of `length` tokens, in steps, with `left` tokens to
/// emit. Costs and params must outlive it.
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
  /// Whether `choice` promises more than the best one so far, by a margin where that is plain decoding.
  bool beats(const Choice& choice, const Choice& best) const {
    return choice.rate() > (best.origin == DraftOrigin::none ? params_.margin : 1.0) * best.rate();
  }
  /// The seconds that the block may take longer than a plain one.
  double budget() const { return budget_; }
  /// Whether it may take so long.
  bool affords(double seconds) const { return seconds - plain().seconds <= budget_; }
  /// Drafts by n-grams where they promise more than `best`, else `best`.
  Choice best_by_ngrams(const NgramEstimate& ngrams, std::size_t left, Choice best) const;

  /// The seconds of the target's pass over so many nodes, of a distribution for every token and, where
  /// distributions are dense, of a plan that takes `plan` seconds for every token but the bonus.
  double verification_seconds(double nodes, std::size_t length, double tokens, double plan) const {
    return costs_.target.seconds(1.0 + nodes, static_cast<double>(depth_)) +
           token_seconds(length, tokens, plan);
  }
  /// The part of it that is not the pass.
  double token_seconds(std::size_t length, double tokens, double plan) const {
    const double plans = dense() ? plan * capped(tokens, length) : 0.0;
    return (distribution_seconds() + costs_.select.likelihood) * tokens + plans;
  }
  /// The seconds of one distribution, and of a token drawn from it.
  double distribution_seconds() const {
    return dense() ? costs_.select.distribution : costs_.select.filtered;
  }

  const Costs& costs() const { return costs_; }
  Support support() const { return support_; }
  bool dense() const { return support_ == Support::whole; }
  /// Whether several draft sequences may be different.
  bool sequences_differ() const { return support_ != Support::point; }
  /// The tokens that passes are taken to attend to.
  std::size_t depth() const { return depth_; }

 private:
  const Costs& costs_;
  const AutoParams& params_;
  Support support_;
  std::size_t depth_;
  double budget_;
};

}  // namespace spectr
