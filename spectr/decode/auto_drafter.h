#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "spectr/decode/prospects.h"

namespace spectr {

/// Drafts as much as pays: before every block it picks the way that promises the most tokens per second – K
/// sequences of L tokens from the draft model, L tokens from the text's own n-grams, or no drafts – by a
/// stored cost curve and by running estimates of the acceptance in this text.
///
/// Theorem. With a lossless walk behind it the output has the target's law. *Why:* the choice is a function
/// of the text and of past blocks; given these, every choice gives the next block the target's law.
///
/// The draft model reads nothing, the prompt neither, until what it is to save outweighs the reading. It
/// drafts in the first few blocks, to see. Where it does not pay it is looked at again at growing intervals.
/// Where even perfect drafts would not pay it never drafts.
class AutoDrafter final : public Drafter {
 public:
  static constexpr std::size_t most_rows = Prospects::most_rows;

  explicit AutoDrafter(std::shared_ptr<const Costs> costs) : costs_(std::move(costs)) {}

  bool opens_with_models(const BlockStart& first, const Models& models) override;
  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  Result<void> observe(const BlockStart& start, const Draft& draft, const Verdict& verdict,
                       NodeLaws& target) override;
  std::size_t most_nodes(std::size_t left) const override;
  /// The most of any block of this text.
  DraftShape shape() const override { return largest_; }
  std::optional<Expectation> expectation() const override;
  bool remembers() const override { return true; }

 private:
  Prospects prospects() const { return {*costs_, model_, text_}; }
  void choose(const BlockStart& start, const Models& models);
  bool pays(const Way& way, const BlockStart& start, double share) const;
  bool looks_at(std::size_t block);

  std::shared_ptr<const Costs> costs_;
  AcceptanceEstimate model_;
  NgramEstimate text_;
  Way chosen_;
  DraftShape largest_;
  std::size_t read_ = 0;  // tokens of the text that the draft model has read
  // What the model promises best with so many tokens left, until more has been observed.
  std::size_t known_for_ = 0;
  Way best_, perfect_;
  std::size_t look_end_ = 0;   // to the block before it the model drafts, to see
  std::size_t next_look_ = 0;  // block from which on it does so again
  std::size_t gap_ = 0;        // blocks between two looks
};

}  // namespace spectr
