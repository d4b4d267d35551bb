#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/lm/language_model.h"
#include "spectr/nn/drafters/trained_drafter.h"
#include "spectr/nn/extra_token_tracker.h"

namespace spectr {

/// A trained drafter's session that follows a sequence of its target.
///
/// score() first reads the features of new tokens from the target's session, and lets the target
/// compute missing ones; then it drafts. The drafter's rows of accepted tokens are recomputed
/// from the target's features, so that its drafts depend on the sequence alone: keep() drops the
/// tree.
class DrafterSession : public Session {
 public:
  ~DrafterSession() override;
  DrafterSession(const DrafterSession&) = delete;
  DrafterSession& operator=(const DrafterSession&) = delete;

  /// Returns the logits of the row that a node's children come from. They differ from logits() if the node's
  /// own token only selects among the row's candidates. Requires: as logits().
  virtual Logits row_logits(NodeId node) const { return logits(node); }
  /// Returns the drafter's estimate of the probability that a child of the node is accepted, on this path;
  /// nothing if it has no estimate. Requires: as logits().
  virtual std::optional<double> confidence(NodeId /*node*/) const { return std::nullopt; }

  void keep(std::span<const NodeId> path) override;
  void rewind(std::size_t length) override;
  std::string_view name() const override { return model_.file().name(); }
  std::size_t length() const override { return length_; }
  std::size_t vocabulary() const override { return model_.vocabulary(); }
  std::size_t context() const override { return context_; }

 protected:
  /// `follows`: a row also needs the token after its own.
  DrafterSession(const TrainedDrafter& model, Session& target, const FollowSettings& settings, bool follows,
                 std::size_t block_rows);

  /// Computes the rows [first, end) of the sequence from the target's features.
  virtual Result<void> feed(std::span<const Token> text, std::size_t first, std::size_t end) = 0;
  /// Drops all results for the tree.
  virtual void drop_tree() = 0;

  /// Fails if the sequence and the tree exceed the context.
  Result<void> check(std::span<const Token> text, const TokenTree& tree) const;
  /// Feeds all missing rows before `end`; length() is then at least `end`.
  Result<void> read(std::span<const Token> text, std::size_t end);
  Result<HeldLogits> run(TrainedDrafter::Pass pass);
  void forget_rows(std::size_t length) { length_ = std::min(length_, length); }
  /// Leaves out rows before `length`, which the drafter does not need.
  void skip_rows(std::size_t length) { length_ = std::max(length_, length); }

  const TrainedDrafter& model() const { return model_; }
  Session& target() const { return target_; }
  /// Starts a batch of rows with `width` features each.
  void begin_batch(std::size_t width, bool fuses);
  /// Adds a row to the batch, with its features.
  void add_row(Token token, std::size_t position, std::size_t slot, std::size_t prefix,
               std::span<const std::int32_t> ancestors, std::span<const float> features);
  /// Adds a row that attends to the target's keys and values of all tokens before `position`.
  void add_row_after_target(Token token, std::size_t position, std::span<const float> features);
  /// Asks for the logits of the batch's last row.
  void want_last();

 private:
  const TrainedDrafter& model_;
  Session& target_;
  std::size_t context_;
  bool follows_;
  CacheId cache_ = 0;       // unused if the drafter reads the target's cache
  SequenceSlots cached_;    // the target's keys and values, for add_row_after_target()
  std::size_t length_ = 0;  // rows of the sequence with keys and values
  ExtraTokenTracker tracker_;
  const ExtraTokens* extra_tokens_ = nullptr;  // of the sequence; null if the head has no shortlist
  PassBatch batch_;
  std::vector<float> features_;  // features of the batch
};

}  // namespace spectr
