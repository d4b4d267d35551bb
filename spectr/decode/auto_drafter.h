#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "spectr/decode/acceptance_estimate.h"
#include "spectr/decode/cost_curve.h"
#include "spectr/decode/drafter.h"
#include "spectr/decode/ngram_estimate.h"

namespace spectr {

/// Drafts as much as pays: before every block it picks the drafts that promise the most tokens per second –
/// K sequences of L tokens from the draft model, L tokens from the text's own n-grams, or none –
///
///   tokens(K, L) / (Σ draft passes + target pass of 1 + nodes rows + selection),
///
/// by a stored cost curve and by running estimates of the acceptance in this text.
///
/// Theorem. With a lossless walk behind it the output has the target's law. *Why:* the choice is a function
/// of the text and of past blocks; given these, every choice gives the next block the target's law.
///
/// Where nothing seems to pay it drafts single tokens for the first few blocks, to see, and then decodes
/// plainly. It looks again at growing intervals, because every look makes the draft read what it has missed.
/// Where even perfect drafts would not pay it never drafts.
class AutoDrafter final : public Drafter {
 public:
  /// Longest sequences of the draft model, and largest tree, that are considered.
  static constexpr std::size_t most_length = AcceptanceEstimate::positions;
  static constexpr std::size_t most_rows = 32;

  explicit AutoDrafter(std::shared_ptr<const Costs> costs) : costs_(std::move(costs)) {}

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  Result<void> observe(const BlockStart& start, const Draft& draft, const Verdict& verdict,
                       NodeLaws& target) override;
  std::size_t most_nodes(std::size_t left) const override;
  /// Of the last block.
  DraftShape shape() const override { return chosen_.shape; }
  std::optional<Expectation> expectation() const override;
  bool remembers() const override { return true; }

 private:
  enum class From { nowhere, model, text };

  /// A way to draft a block, and what it promises.
  struct Way {
    From from = From::nowhere;
    DraftShape shape = {};
    double tokens = 1.0;
    double seconds = 0.0;

    double rate() const { return tokens / seconds; }
    /// Where the other is plain decoding: by a margin.
    bool beats(const Way& other) const;
  };

  double check_seconds(double nodes, std::size_t length, double tokens, double plan) const;
  Way plain() const { return {.seconds = check_seconds(0.0, 0, 1.0, 0.0)}; }
  Way by_model(std::size_t K, std::size_t L, double tokens) const;
  Way by_text(std::size_t L, double tokens) const;
  Way best_by_model(std::size_t left) const;
  Way best_by_text(std::size_t left, Way best) const;
  bool can_pay(std::size_t left) const;
  bool looks_at(std::size_t block);
  void decide(std::size_t left);

  std::shared_ptr<const Costs> costs_;
  AcceptanceEstimate estimate_;
  NgramEstimate ngrams_;
  Way chosen_;
  // What was decided about the draft model for so many tokens left, until more has been observed.
  std::size_t decided_for_ = 0;
  bool can_pay_ = false;
  Way model_;
  std::size_t next_look_ = 0;  // block at which a text that is decoded plainly is looked at again
  std::size_t look_end_ = 0;
  std::size_t gap_ = 0;  // blocks between two looks
};

}  // namespace spectr
