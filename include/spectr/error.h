// Errors of the library, and results that hold a value or an error.
//
//     const auto plan = spectr::Plan::build("optimal", p, q, 2);
//     if (!plan) return plan.error();             // without exceptions: the caller returns a Result, too
//     const double a = plan->acceptance().value();  // with exceptions: value() throws spectr::Exception
//
// Errors: every function that can fail because of its input returns a Result. Memory of the calling program
// that cannot be allocated throws std::bad_alloc, as everywhere in the standard library. Threads: a Result is
// a value; concurrent reads are safe. Cost: a Result has the size of its value, or of an Error, and a flag.
// Success allocates nothing.
#pragma once

#include <spectr.h>

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace spectr::inline v0 {

/// The kind of an error, for programs. The values are those of spectr_status.
enum class ErrorCode {
  bad_input = SPECTR_BAD_INPUT,          ///< an argument or a file is wrong
  unsupported = SPECTR_UNSUPPORTED,      ///< this build, machine or model cannot do it
  io = SPECTR_IO,                        ///< a file cannot be used
  context_full = SPECTR_CONTEXT_FULL,    ///< the sequence exceeds the context
  out_of_memory = SPECTR_OUT_OF_MEMORY,  ///< not enough memory on this machine or on a device
  cancelled = SPECTR_CANCELLED,          ///< the queue is full, or the engine is shutting down
  timeout = SPECTR_TIMEOUT,              ///< the time limit has passed
  device_lost = SPECTR_DEVICE_LOST,      ///< a device no longer responds
  internal = SPECTR_INTERNAL,            ///< a computation has failed
};

/// The reason of a failure. The message is one line of UTF-8 that names the argument and its value.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

/// The exception that Result::value() throws if there is no value.
class Exception : public std::runtime_error {
 public:
  explicit Exception(const Error& error) : std::runtime_error(error.message), code_(error.code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

namespace detail {

/// Throws the error as an Exception. Ends the program if it is compiled without exceptions.
[[noreturn]] inline void raise([[maybe_unused]] const Error& error) {
#if defined(__cpp_exceptions)
  throw Exception(error);
#else
  std::abort();
#endif
}

}  // namespace detail

/// A value or an error. It has the interface of C++23's std::expected, as far as it goes.
template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Returns the value. Throws an Exception if there is none.
  T& value() & {
    if (!has_value()) detail::raise(error());
    return **this;
  }
  const T& value() const& {
    if (!has_value()) detail::raise(error());
    return **this;
  }
  T&& value() && {
    if (!has_value()) detail::raise(error());
    return *std::move(*this);
  }

  /// Returns the value. Requires: has_value().
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  /// Returns the error. Requires: !has_value().
  const Error& error() const noexcept { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return has_value(); }
  /// Throws an Exception if there is an error.
  void value() const {
    if (error_) detail::raise(*error_);
  }
  /// Returns the error. Requires: !has_value().
  const Error& error() const noexcept { return *error_; }

 private:
  std::optional<Error> error_;
};

namespace detail {

/// Calls a function of the C interface, and returns its error.
template <class Function>
Result<void> checked(Function&& function) {
  spectr_error error;
  const spectr_status status = std::forward<Function>(function)(&error);
  if (status == SPECTR_OK) return {};
  return Error{static_cast<ErrorCode>(status), error.message};
}

/// Calls a function of the C interface that fills `value`, and returns the value or the error.
template <class T, class Function>
Result<T> filled(T value, Function&& function) {
  const Result<void> done =
      checked([&](spectr_error* error) { return std::forward<Function>(function)(value, error); });
  if (!done) return done.error();
  return value;
}

/// Returns an error of the kind bad_input.
inline Error bad_input(std::string message) {
  return {ErrorCode::bad_input, std::move(message)};
}

}  // namespace detail
}  // namespace spectr::inline v0
