#pragma once

#include "apps/http/handler.h"
#include "apps/server/models/model_request.h"
#include "apps/server/requests/generation_request.h"

namespace spectr::server {

/// Queues the completions of a request. The reply sends them, streamed or complete, and cancels them when it
/// is destroyed or the deadline has passed. A request for no completion is answered immediately. Throws
/// ApiError if the request cannot be answered.
http::Answer begin_generation(const ModelRequest& asked, Api api);

}  // namespace spectr::server
