#pragma once

#include <string>

#include "spectr/engine/completion.h"
#include "spectr/engine/request.h"

namespace spectr {

/// Returns the statistics of a finished completion as a JSON object on one line, with the fields of `stats`
/// in docs/json.md, and `stop_reason`, `stop_word` and `prompt_tokens`.
std::string statistics_json(const CompletionResult& result, const DecodingSettings& settings);

}  // namespace spectr
