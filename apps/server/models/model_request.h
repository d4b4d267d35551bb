#pragma once

#include <chrono>
#include <functional>

#include "apps/http/handler.h"
#include "apps/server/api_error.h"
#include "apps/server/models/served_models.h"

namespace spectr::server {

/// A request and the model that answers it.
struct ModelRequest {
  using Clock = std::chrono::steady_clock;

  const ModelLease& model;
  const http::Request& request;
  const http::Wake& wake;
  Clock::time_point arrival;
  Clock::duration waited{0};  ///< for the model to be loaded

  /// Returns the time at which the request is cancelled. Waiting for the model counts.
  Clock::time_point deadline() const { return arrival + model->options().timeout; }
};

/// Handles a request with its model. Throws ApiError.
using ModelHandle = std::function<http::Answer(const ModelRequest& request)>;
/// Formats the body of an error.
using ErrorForm = std::function<Json(const ApiError&)>;

/// Handles a request with the model that it names: in the query (`model`), or in the member `model` of its
/// body. If the model is not loaded yet, the request waits for it in the reply. GET requests load no model.
/// POST requests do unless the server was started otherwise; `autoload` in the query overrides that. Throws
/// ApiError.
http::Answer with_model(ServedModels& models, const http::Request& request, const http::Wake& wake,
                        const ModelHandle& handle, const ErrorForm& form);

/// Handle POST /models/load and /models/unload, {"model"}, as in llama.cpp. They return before the model is
/// loaded or unloaded. Throw ApiError.
Json load_model(ServedModels& models, const std::string& body);
Json unload_model(ServedModels& models, const std::string& body);

}  // namespace spectr::server
