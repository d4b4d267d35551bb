#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "spectr/base/result.h"

namespace spectr::cli {

/// Exit statuses of the program.
enum class Status { done = 0, failed = 1, usage = 2 };

/// Ends a command: main prints the one line `spectr: error: MESSAGE` and exits with the status.
class Failure : public std::runtime_error {
 public:
  Failure(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Status status() const { return status_; }

 private:
  Status status_;
};

/// The value of a result, or a Failure: bad input unless said otherwise.
template <class T>
T need(Result<T> result, Status status = Status::usage) {
  if (!result) throw Failure(status, result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace spectr::cli
