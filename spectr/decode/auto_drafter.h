#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "spectr/decode/draft_candidate.h"
#include "spectr/decode/loss_limit.h"
#include "spectr/decode/ngram_estimate.h"
#include "spectr/decode/prospects.h"

namespace spectr {

/// Drafts as much as pays: before every block it picks the way that promises the most tokens per second – K
/// sequences of L tokens from one of the draft models, L tokens from the text's own n-grams, or no drafts –
/// by stored cost curves and by running estimates of the acceptance in this text.
///
/// Theorem. With a lossless walk behind it the output has the target's law. *Why:* the choice is a function
/// of the text and of past blocks; given these, every choice gives the next block the target's law.
///
/// No text takes much longer than by plain decoding (LossLimit). A draft model reads nothing, the prompt
/// neither, until what it is to save outweighs the reading. What it is worth the end of the prompt tells
/// (Rehearsal), where that is long enough; else it drafts in a few of the first blocks, to see. Where it is
/// not the best it is looked at again at growing intervals. Where even perfect drafts of its would not pay it
/// never drafts.
class AutoDrafter final : public Drafter {
 public:
  static constexpr std::size_t most_rows = DraftCandidate::most_rows;

  explicit AutoDrafter(std::shared_ptr<const Costs> costs);

  /// Error: as of propose.
  Result<void> open(const BlockStart& first, Models& models) override;
  /// Error: there are not as many draft models as costs of their passes.
  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  Result<void> observe(const BlockStart& start, const Draft& draft, const Verdict& verdict,
                       NodeLaws& target) override;
  std::size_t most_nodes(std::size_t left) const override;
  /// The most of any block of this text.
  DraftShape shape() const override { return largest_; }
  std::optional<Expectation> expectation() const override;
  bool remembers() const override { return true; }

 private:
  Result<void> check(const Models& models) const;
  void begin();
  /// What a block can count on without draft models.
  Prospects prospects(const BlockStart& start, const Models& models) const;
  /// The draft models that might save more than it takes them to read the prompt.
  std::vector<std::size_t> worth_reading(const BlockStart& first, const Models& models);
  void choose(const BlockStart& start, const Models& models);
  /// What the block takes by the costs, with so many drafted nodes and new tokens.
  double seconds(double nodes, double tokens) const;

  std::shared_ptr<const Costs> costs_;
  std::vector<DraftCandidate> candidates_;  // by draft model
  NgramEstimate text_;
  LossLimit limit_;
  // Of the block.
  std::optional<Prospects> prospects_;
  Way plain_, chosen_;
  bool looks_ = false;  // it was chosen to see what it is worth
  DraftShape largest_;
};

}  // namespace spectr
