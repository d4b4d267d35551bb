#pragma once

#include <httplib.h>

#include "apps/server/generation_request.h"
#include "apps/server/service.h"

namespace spectr::server {

/// Answers a request for texts, streamed or at once. The thread of the connection waits; it cancels the texts
/// when the client has gone or the time is over. Throws ApiError before anything is sent.
void answer_generation(Service& service, Api api, const httplib::Request& request,
                       httplib::Response& response);

}  // namespace spectr::server
