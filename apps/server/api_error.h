#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "apps/support/json.h"
#include "spectr/base/result.h"

namespace spectr::server {

/// Error of a request. Handlers throw it; a single place converts it to an HTTP response.
class ApiError : public std::exception {
 public:
  ApiError(int status, std::string type, std::string message)
      : status_(status), type_(std::move(type)), message_(std::move(message)) {}

  /// Converts an error of a call. The only place that maps an ErrorCode to an HTTP status.
  static ApiError of(const Error& error);
  static ApiError invalid(std::string message) { return {400, "invalid_request_error", std::move(message)}; }
  static ApiError exceeds_context(std::size_t prompt, std::size_t context);
  static ApiError unauthenticated();
  static ApiError forbidden(std::string message) { return {403, "permission_error", std::move(message)}; }
  static ApiError not_found(std::string message) { return {404, "not_found_error", std::move(message)}; }
  /// `allowed` lists the methods of the path in the format of an Allow header.
  static ApiError wrong_method(std::string_view method, std::string_view path, std::string_view allowed);
  static ApiError internal(std::string message) { return {500, "server_error", std::move(message)}; }
  static ApiError not_supported(std::string message) {
    return {501, "not_supported_error", std::move(message)};
  }
  static ApiError timeout(std::string message) { return {504, "timeout_error", std::move(message)}; }
  /// `retry_after` is the number of seconds after which the client should retry.
  static ApiError unavailable(std::string message, int retry_after);
  static ApiError queue_full(std::size_t limit, int retry_after);

  int status() const { return status_; }
  /// Returns additional header fields of the response.
  const std::map<std::string, std::string>& headers() const { return headers_; }
  const char* what() const noexcept override { return message_.c_str(); }
  /// Returns {"error": {"code", "message", "type"}} and members specific to the error.
  Json json() const;
  /// Returns the error in the form of Anthropic's API, with a member "type" of "error".
  Json named_json() const;

 private:
  int status_;
  std::string type_;
  std::string message_;
  std::map<std::string, std::string> headers_;
  Json more_ = Json::object();
};

/// Returns the value of a result, or throws its error as an ApiError.
template <class T>
T valid(Result<T> result) {
  if (!result) throw ApiError::of(result.error());
  return std::move(result).value();
}

}  // namespace spectr::server
