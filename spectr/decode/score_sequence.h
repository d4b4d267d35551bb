#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/lm/language_model.h"

namespace spectr {

/// A callback with the index of a token and the logits that predict it, which are valid until it returns.
using ScoredToken = std::function<void(std::size_t index, const Logits& logits)>;

/// Calls `scored` for every token of a sequence except the first, in order. The session processes up to
/// `rows` tokens per pass, and finally holds all except the last one. Requires: a session without a sequence,
/// for trees of at least `rows` nodes; rows ≥ 1. Fails like Session::score.
Result<void> score_sequence(Session& session, std::span<const Token> tokens, std::size_t rows,
                            const ScoredToken& scored);

/// A callback with the index of a token and the logits after it, which are valid until it returns.
using LogitsAfter = std::function<void(std::size_t index, const Logits& logits)>;

/// Calls `visit` for each token i ≥ first, in passes of several rows and a session of its own. Fails if the
/// tokens are empty, are more than `context`, or lie outside the vocabulary, and like Session::score.
/// Thread-safe.
Result<void> for_each_logits(const LanguageModel& model, std::size_t context, std::span<const Token> tokens,
                             std::size_t first, const LogitsAfter& visit);

/// Returns Σ −ln q over all tokens but the first. Fails like for_each_logits(). Thread-safe.
Result<double> sum_of_losses(const LanguageModel& model, std::size_t context, std::span<const Token> tokens);

/// Fails if a token is not in [0, vocabulary); names its index.
Result<void> check_tokens(std::span<const Token> tokens, std::size_t vocabulary);

}  // namespace spectr
