#pragma once

#include <stdexcept>
#include <utility>

#include "spectr/base/result.h"

namespace spectr::test {

/// The value, or an exception that says the error.
template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

}  // namespace spectr::test
