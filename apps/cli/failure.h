#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "spectr/base/result.h"

namespace spectr::cli {

/// Exit statuses of the program.
enum class Status { done = 0, failed = 1, usage = 2 };

/// Returns the exit status of an error: `usage` if other arguments, files or hardware help, else `failed`.
constexpr Status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_input:
    case ErrorCode::unsupported:
    case ErrorCode::io:
    case ErrorCode::context_full:
    case ErrorCode::out_of_memory:
      return Status::usage;
    case ErrorCode::cancelled:
    case ErrorCode::timeout:
    case ErrorCode::device_lost:
    case ErrorCode::internal:
      break;
  }
  return Status::failed;
}

/// Ends a command. main() prints one line `spectr: error: MESSAGE` and exits with the status.
class Failure : public std::runtime_error {
 public:
  Failure(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  explicit Failure(const Error& error) : Failure(status_of(error.code), error.message) {}
  Status status() const { return status_; }

 private:
  Status status_;
};

/// Returns the value of a result, or throws its error as a Failure with the status of its code.
template <class T>
T need(Result<T> result) {
  if (!result) throw Failure(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}
/// Returns the value of a result, or throws its error with `status`: for failures despite valid input.
template <class T>
T need(Result<T> result, Status status) {
  if (!result) throw Failure(status, result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace spectr::cli
