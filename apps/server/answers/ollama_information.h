#pragma once

#include <string>

#include "apps/server/models/served_models.h"
#include "apps/server/requests/generation_request.h"
#include "apps/support/json.h"

namespace spectr::server {

// Information about the server in the form of Ollama's API.

/// Returns the current time in UTC, formatted as "2026-01-31T12:00:00.123456Z".
std::string timestamp();

/// Returns the model's name, and its file and format as far as they are known before it is loaded.
Json listed_model(const ModelState& model);
/// Returns the capabilities of the model and its chat template: "completion", "tools", "thinking", "insert".
Json capabilities_of(const Service& service);

Json tags_json(ServedModels& models);     ///< /api/tags
Json running_json(ServedModels& models);  ///< /api/ps
Json version_json();                      ///< /api/version
/// Answers /api/show. The model name in the body is ignored. Throws ApiError.
Json show_json(const Service& service, const std::string& body);
/// Answers a request that only loads the model.
Json loaded_json(const std::string& model, Api api);

}  // namespace spectr::server
