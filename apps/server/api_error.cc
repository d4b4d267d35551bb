#include "apps/server/api_error.h"

#include "spectr/base/names.h"

namespace spectr::server {

ApiError ApiError::of(const Error& error) {
  switch (error.code) {
    case ErrorCode::bad_input:
      return invalid(error.message);
    case ErrorCode::context_full:
      return {400, "exceed_context_size_error", error.message};
    case ErrorCode::unsupported:
      return not_supported(error.message);
    case ErrorCode::cancelled:
      return unavailable(error.message, 1);
    case ErrorCode::timeout:
      return timeout(error.message);
    case ErrorCode::io:
    case ErrorCode::out_of_memory:
    case ErrorCode::device_lost:
    case ErrorCode::internal:
      break;
  }
  return internal(error.message);
}

ApiError ApiError::exceeds_context(std::size_t prompt, std::size_t context) {
  ApiError error(400, "exceed_context_size_error",
                 fmt::format("the prompt has {} tokens, but the context holds {}", prompt, context));
  error.more_ = {{"n_prompt_tokens", prompt}, {"n_ctx", context}};
  return error;
}

ApiError ApiError::unauthenticated() {
  return {401, "authentication_error",
          "Invalid API Key: send it as Authorization: Bearer KEY or X-Api-Key: KEY"};
}

ApiError ApiError::wrong_method(std::string_view method, std::string_view path, std::string_view allowed) {
  ApiError error(405, "invalid_request_error",
                 fmt::format("{} is for {}, not for {}", escape(path), allowed, escape(method)));
  error.headers_ = {{"Allow", std::string(allowed)}};
  return error;
}

ApiError ApiError::unavailable(std::string message, int retry_after) {
  ApiError error(503, "unavailable_error", std::move(message));
  error.headers_ = {{"Retry-After", std::to_string(retry_after)}};
  return error;
}

ApiError ApiError::queue_full(std::size_t limit, int retry_after) {
  ApiError error(429, "rate_limit_error", fmt::format("queue full ({} waiting); retry later", limit));
  error.headers_ = {{"Retry-After", std::to_string(retry_after)}};
  return error;
}

Json ApiError::json() const {
  Json error = {{"code", status_}, {"message", message_}, {"type", type_}};
  error.update(more_);
  return {{"error", error}};
}

Json ApiError::named_json() const {
  Json named = {{"type", "error"}};
  named.update(json());
  return named;
}

}  // namespace spectr::server
