#pragma once

#include <string>

#include "apps/server/requests/generation_request.h"
#include "apps/server/service.h"
#include "apps/support/json.h"

namespace spectr::server {

// Information about the server in the form of Ollama's API.

/// The time now in UTC, as in "2026-01-31T12:00:00.123456Z".
std::string timestamp();

/// The model's name, file and format.
Json listed_model(const Service& service);
/// Returns the abilities of the model and its chat template: "completion", "tools", "thinking", "insert".
Json capabilities_of(const Service& service);

Json tags_json(const Service& service);     ///< /api/tags
Json running_json(const Service& service);  ///< /api/ps
Json version_json();                        ///< /api/version
/// /api/show, whatever the body calls the model. Throws ApiError.
Json show_json(const Service& service, const std::string& body);
/// The answer to a request that asks for nothing but that the model be loaded.
Json loaded_json(const std::string& model, Api api);

}  // namespace spectr::server
