#pragma once

#include "apps/http/message.h"
#include "apps/support/json.h"
#include "apps/server/service.h"

namespace spectr::server {

/// POST /slots/N?action=save|restore|erase, as llama.cpp has it: a slot's sequence goes to a file of the
/// folder of --slot-save-path or comes back from there ({"filename"}), or is forgotten. Throws ApiError.
Json slot_action(Service& service, const http::Request& request);

}  // namespace spectr::server
