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

}  // namespace spectr::test
