#pragma once

#include <httplib.h>

#include "apps/server/server.h"
#include "apps/server/service.h"

namespace spectr::server {

/// Every path that the server answers. Service and options must outlive the server.
void add_routes(httplib::Server& http, Service& service, const ServerOptions& options);

}  // namespace spectr::server
