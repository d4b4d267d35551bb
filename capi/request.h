#pragma once

#include "capi/spectr.h"
#include "spectr/base/result.h"
#include "spectr/engine/prompt_input.h"
#include "spectr/engine/request.h"

namespace spectr::capi {

/// Returns the prompt of a caller's request, with its tools. Fails unless exactly one prompt is given.
Result<PromptInput> prompt_of(const spectr_request& given);

/// Returns the rest of a caller's request.
Result<Request> request_of(const spectr_request& given);

}  // namespace spectr::capi
