#pragma once

#include <stdexcept>
#include <utility>

#include "spectr/base/result.h"

namespace spectr::test {

/// Returns the value, or throws an exception with the error's message.
template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

/// Throws an exception with the error's message unless an operation succeeded.
inline void value_of(const Result<void>& done) {
  if (!done) throw std::runtime_error(done.error().message);
}

}  // namespace spectr::test
