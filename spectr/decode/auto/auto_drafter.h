#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "spectr/decode/auto/draft_candidate.h"
#include "spectr/decode/auto/policy.h"
#include "spectr/decode/look.h"

namespace spectr {

/// Adaptive drafting. Before every block it takes the choice with the most expected tokens per second: K
/// draft sequences of up to L tokens from one of the draft models, which continue while that model is
/// confident; L tokens from the sequence's own n-grams; or no drafts. It uses stored cost curves, and the
/// blocks that each setting would have had in the sequence so far (Replay).
///
/// Theorem. With a lossless walk as the verifier the output has the target's distribution. *Why:* the choice
/// is a function of the sequence and of past blocks; given these, every choice gives the next block the
/// target's distribution.
///
/// The RegretBudget bounds the slowdown against plain decoding. A draft model processes no tokens, not even
/// the prompt, until its expected or optimistic saving exceeds the cost. It never drafts only to explore.
/// Instead the models are compared at the end of the prompt and, while another choice is better, at the
/// latest tokens at growing intervals (Look). A model is never looked at if even perfect drafts would not pay
/// off.
class AutoDrafter final : public Drafter {
 public:
  explicit AutoDrafter(std::shared_ptr<const Costs> costs, const AutoParams& params = {});

  /// Fails like propose().
  Result<void> open(const BlockStart& first, Models& models) override;
  /// Fails if the number of draft models differs from that of their costs.
  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  Result<void> observe(const BlockStart& start, const Draft& draft, const Verdict& verdict,
                       NodeDistributions& target) override;
  std::size_t max_nodes(std::size_t left) const override;
  /// Returns the largest K and L of any block of this sequence.
  DraftShape shape() const override { return largest_; }
  std::optional<Expectation> expectation() const override;
  bool is_stateful() const override { return true; }
  std::vector<Learned> learned() const override;

 private:
  Result<void> check(const Models& models) const;
  /// Returns the forecast of a block without draft models.
  Forecast forecast(const BlockStart& start) const;
  void begin(const BlockStart& first, const Models& models);
  void choose(const BlockStart& start, const Models& models);
  template <class PositionAt>
  static Result<void> see(DraftCandidate& candidate, const Look& look, Session& session, const Models& models,
                          PositionAt position_at);
  /// Compares a draft model with the target at the positions of `recent_`.
  Result<void> look(DraftCandidate& candidate, const BlockStart& start, Session& session,
                    const Models& models);

  std::shared_ptr<const Costs> costs_;
  AutoParams params_;
  // State of the sequence.
  Support support_ = Support::whole;
  std::vector<DraftCandidate> candidates_;  // by draft model
  NgramEstimate ngrams_;
  RegretBudget budget_;
  /// The target's distributions of the last emitted tokens, at most look_positions; the latest is at the end.
  std::vector<Distribution> recent_;
  // State of the block.
  std::optional<Forecast> forecast_;
  Choice chosen_;
  bool looked_ = false;  // true: a draft model was looked at before the block
  DraftShape largest_;
  double charged_ = 0.0;  // modelled seconds of the last block
};

}  // namespace spectr
