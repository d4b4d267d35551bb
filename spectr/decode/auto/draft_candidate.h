#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "spectr/decode/auto/policy.h"
#include "spectr/decode/auto/replay.h"
#include "spectr/lm/language_model.h"
#include "spectr/lm/token_tree.h"

namespace spectr {

/// A look: the end of a sequence, scored as if it had been drafted, so that a model's distributions there are
/// known. At the end of a prompt it costs little, because the prompt is processed anyway.
class Look {
 public:
  /// Covers the positions of the last `positions` tokens, or of all but the first token if there are fewer.
  /// Requires: at least two tokens.
  Look(std::span<const Token> sequence, std::size_t positions);

  /// Returns the number of positions, which are nodes 0 to positions() − 1.
  NodeId positions() const { return tree_.size(); }
  /// Returns the sequence's token at a position.
  Token token(NodeId position) const {
    return sequence_[before_.size() + static_cast<std::size_t>(position)];
  }

  /// Processes the sequence except for its last token, which belongs to the next block. If a session already
  /// has its end, that is computed again, so that the results are a function of the sequence.
  Result<void> score(Session& session) const {
    session.rewind(before_.size());
    return session.score(before_, tree_);
  }
  /// Returns the distributions at its positions. Requires: the session scored it last.
  NodeDistributions distributions(const Session& session, const Warp& warp, std::size_t vocabulary,
                                  NodeDistributions::Role role) const {
    return {session, warp, before_, tree_, vocabulary, session.vocabulary(), role};
  }
  /// Commits the scored tokens to the session's sequence.
  void keep(Session& session) const { session.keep(tree_.path(tree_.size() - 1)); }

 private:
  std::span<const Token> sequence_;
  std::span<const Token> before_;  // up to the first position
  TokenTree tree_;                 // a chain: the tokens after it
};

/// One draft model as a candidate of `auto`: the forecast of each of its settings (Replay), the tokens of the
/// sequence that it has not processed, and when it is due for a look.
class DraftCandidate {
 public:
  DraftCandidate(std::size_t model, const AutoParams& params);

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
  /// Returns the seconds of a look, with the draft model's distributions.
  double look_seconds(const Forecast& forecast) const {
    constexpr std::size_t positions = AutoParams::look_positions;
    return reading_seconds(positions) + static_cast<double>(positions) * forecast.distribution_seconds();
  }

  /// Returns the seconds of a block of K draft sequences with these numbers of nodes, levels and emitted
  /// tokens.
  double seconds(const Forecast& forecast, std::size_t K, double nodes, double levels, double tokens) const;

  /// Records that it has processed the prompt except for its last token, and has seen the positions at its
  /// end.
  void read_prompt();
  /// Records that it has processed the sequence except for its last token. Schedules the next look.
  void looked();
  /// Records that it drafts the block.
  void drafts();
  /// Learns from a position of the sequence.
  void see(const DraftedPosition& position);
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
  void start_replay(const Forecast& forecast);
  bool affords_look(const Forecast& forecast, const Choice& chosen) const;
  Choice choice_of(const Forecast& forecast, std::size_t setting) const;
  double max_seconds(const Forecast& forecast, const DraftShape& shape) const;
  Choice perfect(const Forecast& forecast) const;

  AutoParams params_;
  std::size_t model_;
  std::optional<Replay> replay_;  // unset until perfect drafts would pay
  BlockTimes times_;
  const DraftCosts* costs_ = nullptr;
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
