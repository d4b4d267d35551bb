#pragma once

#include <string>

#include "apps/server/slots.h"

namespace spectr::server {

/// What the server counts, as Prometheus reads it.
std::string metrics_of(const Slots& slots);

}  // namespace spectr::server
