#pragma once

#include <fmt/format.h>

#include <expected>
#include <string>
#include <utility>

namespace spectr {

/// The kind of an error, for programs. HTTP statuses and exit codes are derived from it.
enum class ErrorCode {
  bad_input,      ///< a request, a setting or a file is wrong
  unsupported,    ///< this build, machine or model cannot do it
  io,             ///< a file or an address cannot be used
  context_full,   ///< the sequence is longer than the context
  out_of_memory,  ///< not enough memory on this machine or on a device
  cancelled,      ///< the caller cancelled it, or the program is stopping
  timeout,        ///< the time limit has passed
  device_lost,    ///< a device or a rank no longer responds
  internal,       ///< a computation failed, for example because a logit is NaN
};

/// The reason why a request cannot be fulfilled: one line that names the file, the field and the value.
/// Errors report bad input of any kind; a mistake in the calling code fails SPECTR_CHECK instead.
struct Error {
  std::string message;
  ErrorCode code = ErrorCode::bad_input;
};

template <class T>
using Result = std::expected<T, Error>;

/// Creates an error: `return error("{}: K must be at least 1, got {}", flag, k);` in a Result function.
template <class... Args>
[[nodiscard]] std::unexpected<Error> error(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...)});
}
template <class... Args>
[[nodiscard]] std::unexpected<Error> error(ErrorCode code, fmt::format_string<Args...> format,
                                           Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), code});
}

}  // namespace spectr

#define SPECTR_JOIN_(a, b) a##b
#define SPECTR_JOIN(a, b) SPECTR_JOIN_(a, b)

/// `SPECTR_TRY(auto x, f());` declares x with the value of f() or returns f()'s error.
#define SPECTR_TRY(declaration, ...) SPECTR_TRY_(declaration, SPECTR_JOIN(result_, __LINE__), __VA_ARGS__)
#define SPECTR_TRY_(declaration, result, ...)                     \
  auto result = (__VA_ARGS__);                                    \
  if (!result) return std::unexpected(std::move(result.error())); \
  declaration = std::move(*result)

/// Returns the error of a Result<void> expression, if it has one.
#define SPECTR_TRY_VOID(...)                                                                        \
  do {                                                                                              \
    if (auto result_ = (__VA_ARGS__); !result_) return std::unexpected(std::move(result_.error())); \
  } while (false)
