#pragma once

#include <memory>

#include "apps/http/handler.h"
#include "apps/server/active_request.h"

namespace spectr::server {

/// Returns a reply that sends all answers once they are complete.
std::unique_ptr<http::Reply> whole_answer(std::unique_ptr<ActiveRequest> active);

}  // namespace spectr::server
