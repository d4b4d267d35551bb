#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/decode/auto/policy.h"
#include "spectr/decode/auto/replay.h"

namespace spectr {

/// One draft model as a candidate of `auto`: the forecast of each of its settings (Replay), the tokens of the
/// sequence that it has not processed, and when it is due for a look.
class DraftCandidate {
 public:
  /// The costs must outlive it.
  DraftCandidate(std::size_t model, const AutoParams& params, const DraftCosts& costs);

  /// Evaluates its settings for a block, unless even perfect drafts would not pay. If none pays, they are
  /// evaluated again after a position was seen, or after look_positions blocks: evaluating takes time. The
  /// functions below refer to the block.
  void consider(const Forecast& forecast, const BlockStart& start);
  /// Returns the best affordable choice, or plain decoding.
  const Choice& best() const { return best_; }
  /// Returns the seconds of the rest of the completion with this choice, including the tokens that the model
  /// has to process first.
  double seconds_to_complete(const Choice& choice) const {
    return reading_seconds(0) + static_cast<double>(left_) * choice.seconds_per_token();
  }
  /// Returns true if it may save more time than it takes to prefill the prompt and compare its end, by the
  /// forecast or by the optimistic saving.
  bool is_worth_reading(const Forecast& forecast) const;
  /// Returns true if a look is due and affordable, and the optimistic saving over `chosen` exceeds its cost.
  bool wants_look(const Forecast& forecast, const Choice& chosen) const;
  /// Returns the number of positions that a look compares.
  std::size_t look_positions() const { return std::min(AutoParams::look_positions, limits_.length); }
  /// Returns the seconds of a look, with the draft model's distributions.
  double look_seconds(const Forecast& forecast) const {
    const std::size_t positions = look_positions();
    return reading_seconds(positions) + static_cast<double>(positions) * forecast.distribution_seconds();
  }
  /// Returns the largest K of its drafts.
  std::size_t max_drafts() const { return limits_.drafts; }
  bool is_trained() const { return costs_->first.has_value(); }

  /// Returns the seconds of a block of K draft sequences with these numbers of nodes, levels and emitted
  /// tokens.
  double seconds(const Forecast& forecast, std::size_t K, double nodes, double levels, double tokens) const;

  /// Records that it has processed the prompt but its last token, and seen the positions at its end.
  void read_prompt();
  /// Records that it has processed the sequence except for its last token. Schedules the next look.
  void looked();
  /// Records that it drafts the block.
  void drafts();
  /// Learns from a position of the sequence that was drafted at a level, from 1.
  void see(const DraftedPosition& position, std::size_t level);
  /// Records the outcome of a block that it drafted, and learns from its positions if the block is one of
  /// those to be compared.
  Result<void> observe(const Draft& draft, const Verdict& verdict, NodeDistributions& target);

  /// Returns the latest positions, for later sequences.
  std::vector<LearnedPosition> learned() const { return latest_; }
  /// Returns the number of positions that it has seen.
  std::size_t seen() const { return seen_; }

 private:
  /// Returns the seconds for processing missed tokens, beyond those it processes anyway, with the logits of
  /// this number of additional rows.
  double reading_seconds(std::size_t rows) const;
  bool affords_look(const Forecast& forecast, const Choice& chosen) const;
  Choice choice_of(const Forecast& forecast, std::size_t setting) const;
  Choice perfect(const Forecast& forecast) const;

  AutoParams params_;
  std::size_t model_;
  const DraftCosts* costs_;
  ShapeLimits limits_;
  std::optional<Replay> replay_;  // begun when perfect drafts would pay
  BlockTimes times_;
  Choice best_, perfect_, plain_;
  std::size_t block_ = 0, length_ = 0, left_ = 0;  // index of the block, tokens before and after it
  std::size_t read_ = 0;                           // processed tokens of the sequence
  std::size_t next_look_ = AutoParams::look_positions;
  std::size_t next_evaluation_ = 0;  // the block at which its settings are evaluated again if none pays
  std::size_t blocks_ = 0;           // number of blocks that it drafted
  std::size_t seen_ = 0;
  std::vector<LearnedPosition> latest_;
};

}  // namespace spectr
