#pragma once

#include <memory>

#include "apps/http/handler.h"
#include "apps/server/active_request.h"

namespace spectr::server {

/// Answers with all texts, when they are complete.
std::unique_ptr<http::Reply> whole_answer(std::unique_ptr<ActiveRequest> active);

}  // namespace spectr::server
