#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "spectr/decode/acceptance_estimate.h"
#include "spectr/decode/cost_curve.h"
#include "spectr/decode/drafter.h"

namespace spectr {

/// Drafts as much as pays: before every block it picks the K sequences of L tokens, or none, that promise the
/// most tokens per second,
///
///   tokens(K, L) / (Σ draft passes + target pass of 1 + nodes rows + selection),
///
/// by a stored cost curve and by running estimates of the acceptance in this text.
///
/// Theorem. With a lossless walk behind it the output has the target's law. *Why:* the choice of (K, L) is a
/// function of the text and of past blocks; given these, every (K, L) gives the next block the target's law.
///
/// Where nothing seems to pay it drafts single tokens for the first few blocks, to see, and then decodes
/// plainly. It looks again at growing intervals, because every look makes the draft read what it has missed.
/// Where even perfect drafts would not pay it never drafts.
class AutoDrafter final : public Drafter {
 public:
  /// Largest shape that is considered.
  static constexpr std::size_t most_length = AcceptanceEstimate::positions;
  static constexpr std::size_t most_rows = 32;

  explicit AutoDrafter(std::shared_ptr<const Costs> costs) : costs_(std::move(costs)) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  Result<void> observe(const BlockStart& start, const Draft& draft, const Verdict& verdict,
                       NodeLaws& target) override;
  std::size_t most_nodes(std::size_t left) const override;
  /// Of the last block.
  DraftShape shape() const override { return shape_; }
  std::optional<Expectation> expectation() const override { return expectation_; }
  bool remembers() const override { return true; }

 private:
  double seconds(std::size_t K, std::size_t L, double tokens) const;
  double select_seconds(std::size_t K, std::size_t L, double tokens) const;
  double plain_seconds() const { return seconds(0, 0, 1.0); }
  DraftShape best(std::size_t left) const;
  bool can_pay(std::size_t left) const;
  bool looks_at(std::size_t block);
  void decide(std::size_t left);

  std::shared_ptr<const Costs> costs_;
  AcceptanceEstimate estimate_;
  DraftShape shape_;
  Expectation expectation_{};
  // What was decided for so many tokens left, until more has been observed.
  std::size_t decided_for_ = 0;
  bool can_pay_ = false;
  DraftShape best_;
  std::size_t next_look_ = 0;  // block at which a text that is decoded plainly is looked at again
  std::size_t look_end_ = 0;
  std::size_t gap_ = 0;  // blocks between two looks
};

}  // namespace spectr
