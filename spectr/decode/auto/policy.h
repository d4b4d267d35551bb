#pragma once

#include <algorithm>
#include <cstddef>

#include "spectr/decode/auto/auto_params.h"
#include "spectr/decode/auto/replay.h"
#include "spectr/decode/costs/cost_model.h"
#include "spectr/decode/drafter.h"
#include "spectr/decode/ngram.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// The origin of a block's drafts.
enum class DraftOrigin { none, model, ngrams };

/// A way to make a block, and its forecast.
struct Choice {
  DraftOrigin origin = DraftOrigin::none;
  std::size_t model = 0;  ///< index of the draft model, if one drafts
  DraftSetting setting = {};
  double tokens = 1.0;   ///< expected tokens of the block
  double seconds = 0.0;  ///< expected seconds of the block

  double rate() const { return tokens / seconds; }
  double seconds_per_token() const { return seconds / tokens; }
};

/// The regret budget bounds the total cost of drafts in a completion, so that none takes much longer than
/// plain decoding. Regret is the additional time of blocks and looks over plain decoding of the same tokens.
///
/// Theorem. By the costs and with the default params, a completion that runs to its limit of n tokens takes
/// at most max(1.03 n, n + 3) plain tokens, whatever the outcome of its drafts. This includes looks, except
/// one at the end of the prompt that the forecast says will pay, but not the other tokens of the sequence
/// that draft models process. *Why:* a block loses most if none of its drafts is accepted and no two of its
/// draft sequences share a prefix. This loss, and the cost of a look, is at most half of the remaining
/// budget.
class RegretBudget {
 public:
  explicit RegretBudget(const AutoParams& params = {}) : params_(params) {}

  /// Returns by how many seconds the next block may exceed a plain one, with `left` tokens to emit.
  double of_block(const Choice& plain, std::size_t left) const;

  /// Charges a block with its seconds and tokens, or a look with its seconds and no tokens.
  void charge(double seconds, std::size_t tokens, const Choice& plain) {
    emitted_ += tokens;
    regret_ += seconds - static_cast<double>(tokens) * plain.seconds;
  }

 private:
  AutoParams params_;
  std::size_t emitted_ = 0;
  double regret_ = 0.0;  // seconds; negative if drafts have saved time
};

/// Returns the tokens of a block, limited to the remaining ones.
inline double capped(double tokens, std::size_t left) {
  return std::min(tokens, static_cast<double>(left));
}

/// Returns the support of the distributions that a warp produces.
Support support_of(const Warp& warp, std::size_t vocabulary);

/// The largest shapes that are considered for a draft model: K, L, and rows of a target pass.
struct ShapeLimits {
  std::size_t drafts, length, rows;
};
ShapeLimits limits_of(const DraftCosts& draft);

/// The forecast of a block after `depth` tokens, with `left` tokens to emit: the costs of passes at this
/// depth, the choices that need only the target, and the budget of the block. Costs and params must outlive
/// it.
class Forecast {
 public:
  Forecast(const Costs& costs, const AutoParams& params, Support support, std::size_t depth, std::size_t left,
           const RegretBudget& budget)
      : costs_(costs),
        params_(params),
        support_(support),
        depth_(static_cast<double>(depth)),
        budget_(budget.of_block(plain(), left)) {}

  Choice plain() const { return {.seconds = costs_.target.seconds(1.0, depth_) + token_seconds(1)}; }
  /// Returns true if `choice` promises more than `best`, by a margin if that is plain decoding.
  bool beats(const Choice& choice, const Choice& best) const {
    return choice.rate() > (best.origin == DraftOrigin::none ? params_.margin : 1.0) * best.rate();
  }
  /// Returns true if the budget allows the block to take this many seconds.
  bool affords(double seconds) const { return seconds - plain().seconds <= budget_; }
  /// Returns the best affordable drafts by n-grams if they promise more than `best`, otherwise `best`.
  Choice best_by_ngrams(const NgramEstimate& ngrams, std::size_t left, Choice best) const;

  /// Returns the seconds of a block that verifies `nodes` nodes and emits `tokens` tokens with K drafts each,
  /// without those of drafting.
  double verification_seconds(double nodes, double tokens, std::size_t K) const {
    return costs_.target.seconds(1.0 + nodes, depth_) + tokens * token_seconds(K);
  }
  /// Returns the seconds per emitted token that are not passes: a distribution, its likelihood and, if
  /// distributions are dense, a plan for K drafts.
  double token_seconds(std::size_t K) const {
    return distribution_seconds() + costs_.select.likelihood + (is_dense() ? costs_.plan_seconds(K) : 0.0);
  }
  /// Returns the seconds of computing one distribution and drawing a token from it.
  double distribution_seconds() const {
    return is_dense() ? costs_.select.distribution : costs_.select.filtered;
  }
  /// Returns the times of blocks with drafts by a model with these costs.
  BlockTimes times_of(const DraftCosts& draft) const;
  /// Starts a replay from what the costs have of earlier sequences, or from guessed positions of little
  /// weight.
  void begin(Replay& replay, const DraftCosts& draft) const;

  bool is_dense() const { return support_ == Support::whole; }
  /// Returns true if several draft sequences can differ.
  bool sequences_differ() const { return support_ != Support::point; }

 private:
  const Costs& costs_;
  const AutoParams& params_;
  Support support_;
  double depth_;
  double budget_;
};

}  // namespace spectr
