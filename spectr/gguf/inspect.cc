#include "spectr/gguf/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>

#include "spectr/base/check.h"
#include "spectr/base/names.h"
#include "spectr/gguf/gguf_value.h"
#include "spectr/gguf/stored_format.h"

namespace spectr {
namespace {

constexpr std::size_t longest_text = 100, longest_name = 100;
constexpr std::uint64_t max_elements = 6;  // shown elements of an array

struct Describe {
  std::string operator()(std::uint64_t value) const { return fmt::to_string(value); }
  std::string operator()(std::int64_t value) const { return fmt::to_string(value); }
  // Prints the shortest decimal that denotes the same float: 1e-05, not 9.999999747378752e-06.
  std::string operator()(double value) const {
    if (std::abs(value) <= std::numeric_limits<float>::max() && static_cast<float>(value) == value) {
      return fmt::to_string(static_cast<float>(value));
    }
    return fmt::to_string(value);
  }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::string_view value) const { return quote(value, longest_text); }
  std::string operator()(const GgufArray& array) const {
    std::string out = fmt::format("{} x {} [", array.count, *name_of(array.type));
    ByteCursor cursor(array.bytes);
    for (std::uint64_t i = 0; i < std::min(array.count, max_elements); ++i) {
      const auto element = read_value(cursor, array.type);
      SPECTR_CHECK(element.has_value());  // checked when the file was read
      if (i > 0) out += ", ";
      out += std::visit(*this, *element);
    }
    out += array.count > max_elements ? ", …]" : "]";
    return out;
  }
};

std::string shape_of(const GgufTensor& tensor) {
  std::size_t dimensions = tensor.shape.size();
  while (dimensions > 1 && tensor.shape[dimensions - 1] == 1) --dimensions;
  return fmt::format("{}", fmt::join(tensor.shape.begin(), tensor.shape.begin() + dimensions, " x "));
}

std::string_view type_of(const GgufTensor& tensor) {
  return stored_format(tensor.type)->name;
}

}  // namespace

std::string describe(const GgufValue& value) {
  return std::visit(Describe{}, value);
}

std::string describe(const Gguf& file) {
  const std::string parts = file.parts() > 1 ? fmt::format(", {} parts", file.parts()) : "";
  std::string out = fmt::format("{}: GGUF version {}{}\n\n{} metadata entries\n", escape(file.name(), 4096),
                                file.version(), parts, file.keys().size());
  const auto to = std::back_inserter(out);
  for (const std::string_view key : file.keys()) {
    fmt::format_to(to, "  {} = {}\n", escape(key, longest_name), std::visit(Describe{}, *file.find(key)));
  }

  fmt::format_to(to, "\n{} tensors\n", file.tensors().size());
  std::map<std::string_view, std::size_t> types;
  for (const GgufTensor& tensor : file.tensors()) {
    fmt::format_to(to, "  {:<40} {:<7} {:>20} {:>13} bytes\n", escape(tensor.name, longest_name),
                   type_of(tensor), shape_of(tensor), tensor.bytes.size());
    ++types[type_of(tensor)];
  }
  fmt::format_to(to, "\n{} parameters in {} bytes", file.parameters(), file.tensor_bytes());
  for (const auto& [name, count] : types) fmt::format_to(to, ", {} x {}", count, name);
  out += '\n';
  return out;
}

}  // namespace spectr
