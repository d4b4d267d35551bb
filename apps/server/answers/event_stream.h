#pragma once

#include <memory>

#include "apps/http/handler.h"
#include "apps/server/active_request.h"

namespace spectr::server {

/// Answers with a stream of events, one per block of text as it comes.
std::unique_ptr<http::Reply> event_stream(std::unique_ptr<ActiveRequest> active);

}  // namespace spectr::server
