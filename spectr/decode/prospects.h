#pragma once

#include <cstddef>

#include "spectr/decode/acceptance_estimate.h"
#include "spectr/decode/cost_curve.h"
#include "spectr/decode/drafter.h"
#include "spectr/decode/ngram_estimate.h"

namespace spectr {

/// Where the drafts of a block come from.
enum class DraftOrigin { nowhere, model, text };

/// A way to make a block, and what it promises.
struct Way {
  DraftOrigin origin = DraftOrigin::nowhere;
  DraftShape shape = {};
  double tokens = 1.0;
  double seconds = 0.0;

  double rate() const { return tokens / seconds; }
};

/// What the ways to make a block promise, by the costs of passes and by what has been seen of the text:
///
///   tokens / (Σ draft passes + target pass of 1 + nodes rows + laws and plans).
class Prospects {
 public:
  /// Longest sequences of the draft model, and largest tree, that are considered.
  static constexpr std::size_t most_length = AcceptanceEstimate::positions;
  static constexpr std::size_t most_rows = 32;
  /// What the draft model reads of the text before it drafts where it also drafted the last block, in tokens.
  static constexpr double read_anyway = 2.0;

  Prospects(const Costs& costs, const AcceptanceEstimate& model, const NgramEstimate& text)
      : costs_(costs), model_(model), text_(text) {}

  Way plain() const;
  /// K sequences of L tokens from the draft model. Requires L ≥ 1.
  Way by_model(std::size_t K, std::size_t L, std::size_t left) const;
  /// The best of one sequence if all its drafts were accepted.
  Way perfect(std::size_t left) const;

  /// The shape that promises most, or plain decoding.
  Way best_by_model(std::size_t left) const;
  /// Drafts from the text where they promise more than `best`, else that.
  Way best_by_text(std::size_t left, Way best) const;

  /// Seconds that a way saves on every token.
  double saving(const Way& way) const { return plain().seconds - way.seconds / way.tokens; }

 private:
  double check_seconds(double nodes, std::size_t length, double tokens, double plan) const;
  Way bringing(double tokens, std::size_t K, std::size_t L) const;

  const Costs& costs_;
  const AcceptanceEstimate& model_;
  const NgramEstimate& text_;
};

}  // namespace spectr
