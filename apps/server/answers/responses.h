#pragma once

#include "apps/http/message.h"
#include "apps/server/api_error.h"
#include "apps/support/json.h"

namespace spectr::server {

inline http::Response response_of(const Json& json, int status = 200) {
  return http::Response::of("application/json; charset=utf-8", text_of(json), status);
}

/// Builds the HTTP response for an error. `json` is its body.
inline http::Response response_of(const ApiError& failure, const Json& json) {
  http::Response response = response_of(json, failure.status());
  for (const auto& [name, value] : failure.headers()) response.headers.add(name, value);
  response.notes["reason"] = failure.what();
  return response;
}

inline http::Response response_of(const ApiError& failure) {
  return response_of(failure, failure.json());
}

}  // namespace spectr::server
