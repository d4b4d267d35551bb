// The extension module spectr._core of the Python package. It checks values; the package checks
// types and shapes.
#include <nanobind/stl/vector.h>

#include <string>

#include "python/bindings.h"
#include "spectr/base/version.h"

namespace spectr::python {

void raise(const Error& error) {
  PyObject* type = PyExc_RuntimeError;
  switch (error.code) {
    case ErrorCode::bad_input:
    case ErrorCode::context_full:
      type = PyExc_ValueError;
      break;
    case ErrorCode::unsupported:
      type = PyExc_NotImplementedError;
      break;
    case ErrorCode::io:
      type = PyExc_OSError;
      break;
    case ErrorCode::out_of_memory:
      type = PyExc_MemoryError;
      break;
    case ErrorCode::timeout:
      type = PyExc_TimeoutError;
      break;
    case ErrorCode::cancelled:
    case ErrorCode::device_lost:
    case ErrorCode::internal:
      break;
  }
  PyErr_SetString(type, error.message.c_str());
  throw nb::python_error();
}

LogitValues values_of(const Numbers& numbers) {
  if (numbers.dtype() == nb::dtype<float>())
    return std::span(static_cast<const float*>(numbers.data()), numbers.size());
  return std::span(static_cast<const double*>(numbers.data()), numbers.size());
}

MethodOptions method_options(const nb::dict& settings) {
  MethodOptions options;
  for (const auto& [key, value] : settings) {
    const auto name = nb::cast<std::string>(key);
    if (value.is_none()) continue;
    if (name == "plan") options.plan = nb::cast<std::string>(value);
    if (name == "drafts") options.drafts = nb::cast<std::size_t>(value);
    if (name == "length") options.length = nb::cast<std::size_t>(value);
    if (name == "tree") options.tree = nb::cast<std::vector<std::size_t>>(value);
    if (name == "trunk") options.trunk = nb::cast<std::size_t>(value);
    if (name == "look") options.look = nb::cast<bool>(value);
    if (name == "epsilon") options.epsilon = nb::cast<double>(value);
    if (name == "rounds") options.rounds = nb::cast<int>(value);
    if (name == "tau") options.tau = nb::cast<double>(value);
  }
  return options;
}

}  // namespace spectr::python

NB_MODULE(_core, module) {
  module.attr("__version__") = std::string(spectr::version());
  spectr::python::bind_selection(module);
  spectr::python::bind_engine(module);
}
