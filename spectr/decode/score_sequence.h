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

}  // namespace spectr
