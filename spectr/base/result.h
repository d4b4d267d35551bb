#pragma once

#include <fmt/format.h>

#include <expected>
#include <string>
#include <utility>

namespace spectr {

/// Why something that the caller asked for cannot be done: one line that names the file, the field and the
/// value. For input of any kind; a mistake in the calling code trips SPECTR_CHECK instead.
struct Error {
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

/// `return error("{}: K must be at least 1, got {}", flag, k);` in a function that returns a Result.
template <class... Args>
[[nodiscard]] std::unexpected<Error> error(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...)});
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

/// The same for a Result<void>.
#define SPECTR_TRY_VOID(...)                                                                        \
  do {                                                                                              \
    if (auto result_ = (__VA_ARGS__); !result_) return std::unexpected(std::move(result_.error())); \
  } while (false)
