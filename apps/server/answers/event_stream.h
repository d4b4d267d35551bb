#pragma once

#include <memory>

#include "apps/http/handler.h"
#include "apps/server/active_request.h"

namespace spectr::server {

/// Returns a reply that streams events, one for each block of tokens.
std::unique_ptr<http::Reply> event_stream(std::unique_ptr<ActiveRequest> active);

}  // namespace spectr::server
