#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"

namespace spectr {

/// The token sequences that stop the search for repetitions: the first token of each, and its other tokens.
using SequenceBreakers = std::multimap<Token, std::vector<Token>>;

/// The DRY penalty ("don't repeat yourself"): a token that would lengthen a repetition of the sequence's end
/// has multiplier · base^(length − allowed_length) subtracted from its logit. The defaults are llama.cpp's.
struct DryOptions {
  double multiplier = 0.0;          ///< 0 or less: off
  double base = 1.75;               ///< at least 1
  std::size_t allowed_length = 2;   ///< shorter repetitions are free
  std::size_t penalty_last_n = 64;  ///< tokens that are searched for repetitions; 0: off
  /// Texts that end repetitions. If unset, default_sequence_breakers() is used.
  std::optional<std::vector<std::string>> sequence_breakers = {};
  /// The breakers as tokens. Null if there are none.
  std::shared_ptr<const SequenceBreakers> breakers = {};

  bool is_on() const { return multiplier > 0.0 && penalty_last_n > 0; }
};

/// Returns llama.cpp's defaults: newline, colon, double quote and asterisk.
const std::vector<std::string>& default_sequence_breakers();

struct TokenPenalty {
  Token token;
  double penalty;
};

/// Returns the penalties of tokens after `sequence`, each token once. Requires: `dry` is on. Cost: O(n log n)
/// for the last n = penalty_last_n tokens.
RecycledVector<TokenPenalty> dry_penalties(const DryOptions& dry, std::span<const Token> sequence);

}  // namespace spectr
