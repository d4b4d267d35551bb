#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"
#include "spectr/lm/language_model.h"

namespace spectr {

/// Called with the index of a token and the logits that predict it, which are valid until it returns.
using ScoredToken = std::function<void(std::size_t index, const Logits& logits)>;

/// Calls `scored` for every token of a sequence but the first, in order. The session reads up to `rows`
/// tokens a pass, and holds all but the last one afterwards. Requires: a session without text, for trees of
/// at least `rows` nodes; rows ≥ 1. Fails as Session::score does.
Result<void> score_sequence(Session& session, std::span<const Token> tokens, std::size_t rows,
                            const ScoredToken& scored);

}  // namespace spectr
