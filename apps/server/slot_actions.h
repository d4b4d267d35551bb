#pragma once

#include "apps/http/message.h"
#include "apps/server/service.h"
#include "apps/support/json.h"

namespace spectr::server {

/// Handles POST /slots/N?action=save|restore|erase, as in llama.cpp: saves a slot's sequence to a file in the
/// folder of --slot-save-path, restores it from there ({"filename"}), or erases it. Throws ApiError.
Json slot_action(Service& service, const http::Request& request);

}  // namespace spectr::server
