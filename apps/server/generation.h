#pragma once

#include "apps/http/handler.h"
#include "apps/server/requests/generation_request.h"
#include "apps/server/service.h"

namespace spectr::server {

/// Queues the texts that a request asks for. The reply tells them, streamed or at once; it cancels them when
/// it is dropped or their time is over. A request that asks for none is answered at once. Throws ApiError
/// where there will be no answer.
http::Answer begin_generation(Service& service, Api api, const http::Request& request,
                              const http::Wake& wake);

}  // namespace spectr::server
