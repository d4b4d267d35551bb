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

/// The sequences of tokens that no repetition reaches across: the first token of each, and the others.
using SequenceBreakers = std::multimap<Token, std::vector<Token>>;

/// The DRY penalty ("don't repeat yourself"): a token that would lengthen a repetition of the sequence's end
/// has multiplier · base^(length − allowed_length) subtracted from its logit. The defaults are llama.cpp's.
struct DryOptions {
  double multiplier = 0.0;          ///< at most 0: off
  double base = 1.75;               ///< at least 1
  std::size_t allowed_length = 2;   ///< shorter repetitions are free
  std::size_t penalty_last_n = 64;  ///< tokens that are searched for repetitions; 0: off
  /// Texts that end repetitions; none: default_sequence_breakers().
  std::optional<std::vector<std::string>> sequence_breakers = {};
  /// The breakers as tokens; null: there are none.
  std::shared_ptr<const SequenceBreakers> breakers = {};

  bool is_on() const { return multiplier > 0.0 && penalty_last_n > 0; }
};

/// llama.cpp's: a new line, a colon, a quote, an asterisk.
const std::vector<std::string>& default_sequence_breakers();

struct TokenPenalty {
  Token token;
  double penalty;
};

/// Returns the penalties of tokens after `sequence`, each token once. Requires: `dry` is on. Cost: O(n log n)
/// for the last n = penalty_last_n tokens.
RecycledVector<TokenPenalty> dry_penalties(const DryOptions& dry, std::span<const Token> sequence);

}  // namespace spectr
