#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "capi/spectr.h"
#include "spectr/base/result.h"
#include "spectr/base/utf8.h"
#include "spectr/transport/distribution.h"

namespace spectr::capi {

/// Writes an error to the caller's struct, if there is one. A message that is too long is truncated at a
/// character boundary.
inline spectr_status fail(spectr_error* out, spectr_status status, std::string_view message) noexcept {
  if (out == nullptr) return status;
  out->status = status;
  std::size_t size = 0;
  while (size < message.size()) {
    const std::size_t next = size + first_character(message.substr(size)).size();
    if (next >= sizeof(out->message)) break;
    size = next;
  }
  std::memcpy(out->message, message.data(), size);
  out->message[size] = '\0';
  return status;
}

/// Maps error codes to statuses: SPECTR_OK is 0, and the codes follow in their order.
constexpr spectr_status status_of(ErrorCode code) {
  return static_cast<spectr_status>(static_cast<int>(code) + 1);
}
static_assert(status_of(ErrorCode::bad_input) == SPECTR_BAD_INPUT);
static_assert(status_of(ErrorCode::timeout) == SPECTR_TIMEOUT);
static_assert(status_of(ErrorCode::internal) == SPECTR_INTERNAL);

/// Calls `body`, which returns a Result<void>, and converts errors and exceptions to a status.
template <class Body>
spectr_status guarded(spectr_error* out, Body&& body) noexcept {
  try {
    const Result<void> result = body();
    if (!result) return fail(out, status_of(result.error().code), result.error().message);
  } catch (const std::bad_alloc&) {
    return fail(out, SPECTR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& exception) {
    return fail(out, SPECTR_INTERNAL, exception.what());
  } catch (...) {
    return fail(out, SPECTR_INTERNAL, "unknown exception");
  }
  return fail(out, SPECTR_OK, "");
}

/// Fails if an argument is NULL.
template <class T>
Result<void> need(const T* argument, std::string_view name) {
  if (argument == nullptr) return error("{} is NULL", name);
  return {};
}

/// Fails if a list is missing or too long.
template <class T>
Result<void> need_list(const T* list, std::size_t count, std::string_view name) {
  constexpr std::size_t max_list = 1 << 20;  // entries
  if (count > max_list) return error("{} has {} entries, at most {} are allowed", name, count, max_list);
  return count > 0 ? need(list, name) : Result<void>{};
}

inline Result<void> need_vocabulary(std::size_t vocabulary) {
  if (vocabulary == 0) return error("vocabulary must be at least 1, got 0");
  return {};
}

/// Writes a distribution as an array indexed by token.
inline void write(const Distribution& distribution, double* out) {
  for (std::size_t x = 0; x < distribution.vocabulary(); ++x) out[x] = distribution[static_cast<Token>(x)];
}

}  // namespace spectr::capi
