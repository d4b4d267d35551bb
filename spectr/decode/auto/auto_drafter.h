#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "spectr/decode/auto/draft_candidate.h"
#include "spectr/decode/auto/policy.h"

namespace spectr {

/// Drafts as much as pays: before every block it takes the choice that promises the most tokens per second –
/// K draft sequences of up to L tokens from one of the draft models, which go on while that model is
/// confident, L tokens from the sequence's own n-grams, or no drafts – by stored cost curves and by running
/// estimates of the acceptance in this sequence.
///
/// Theorem. With a lossless walk behind it the output has the target's distribution. *Why:* the choice is a
/// function of the sequence and of past blocks; given these, every choice gives the next block the target's
/// distribution.
///
/// No completion takes much longer than by plain decoding (RegretBudget). A draft model reads nothing, the
/// prompt neither, until what it is to save outweighs the reading. The end of the prompt tells what it is
/// worth (WarmUp), where that is long enough; else it explores in a few of the first blocks. Where a model is
/// not the best it is probed again at growing intervals. Where even its perfect drafts would not pay it never
/// drafts.
class AutoDrafter final : public Drafter {
 public:
  explicit AutoDrafter(std::shared_ptr<const Costs> costs, const AutoParams& params = {});

  /// Error: as of propose.
  Result<void> open(const BlockStart& first, Models& models) override;
  /// Error: there are not as many draft models as costs of their passes.
  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  Result<void> observe(const BlockStart& start, const Draft& draft, const Verdict& verdict,
                       NodeDistributions& target) override;
  std::size_t max_nodes(std::size_t left) const override;
  /// The largest K and L of any block of this sequence.
  DraftShape shape() const override { return largest_; }
  std::optional<Expectation> expectation() const override;
  bool remembers() const override { return true; }
  std::vector<Learned> learned() const override;

 private:
  Result<void> check(const Models& models) const;
  void begin();
  /// What a block can count on without draft models.
  Forecast forecast(const BlockStart& start, const Models& models) const;
  /// The draft models that might save more than it takes them to read the prompt.
  std::vector<std::size_t> worth_reading(const BlockStart& first, const Models& models);
  void choose(const BlockStart& start, const Models& models);
  /// The seconds that the block takes by the costs, with that draft and so many new tokens.
  double seconds(const Draft& draft, double tokens) const;

  std::shared_ptr<const Costs> costs_;
  AutoParams params_;
  std::vector<DraftCandidate> candidates_;  // by draft model
  NgramEstimate ngrams_;
  RegretBudget budget_;
  // Of the block.
  std::optional<Forecast> forecast_;
  Choice plain_, chosen_;
  bool probes_ = false;  // it was chosen to see what it is worth
  DraftShape largest_;
  double charged_ = 0.0;  // seconds of the last block, by the costs
  // Of the sequence.
  Support support_ = Support::whole;
};

}  // namespace spectr
