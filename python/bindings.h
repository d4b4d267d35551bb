#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/decode/methods.h"

namespace spectr::python {

namespace nb = nanobind;

/// Raises the Python exception of an error, such as ValueError for bad input or OSError for files.
[[noreturn]] void raise(const Error& error);

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// A C-contiguous array of float32 or float64 on the host.
using Numbers = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;

/// Returns a view of the numbers. Requires: float32 or float64; the Python package converts other types.
LogitValues values_of(const Numbers& numbers);

/// Returns a NumPy array that owns a copy of the values.
template <class T, class Values>
nb::object array_of(const Values& values, std::initializer_list<std::size_t> shape) {
  auto copy = std::make_unique<std::vector<T>>(values.begin(), values.end());
  T* const data = copy->data();
  const nb::capsule owner(copy.release(),
                          [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

/// Reads method settings by name. None keeps a default.
MethodOptions method_options(const nb::dict& settings);

void bind_selection(nb::module_& module);
void bind_engine(nb::module_& module);

}  // namespace spectr::python
