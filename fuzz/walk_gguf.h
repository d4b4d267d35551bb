#pragma once

#include <cstddef>
#include <cstdint>

#include "spectr/gguf/gguf.h"
#include "spectr/gguf/inspect.h"
#include "spectr/nn/arch/architectures.h"

namespace spectr {

/// Reads everything that a file provides, including every byte of its tensors. Returns a checksum so that the
/// reads are not optimised away.
inline std::size_t walk(const Gguf& file) {
  std::size_t sum = describe(file).size() + read_model_spec(file).has_value();
  for (const std::string_view key : file.keys()) {
    sum += file.integer(key).value_or(0) + file.boolean(key, false).value_or(false);
    sum += file.real(key).has_value() + file.string(key).value_or("").size();
    if (const auto strings = file.strings(key)) {
      for (const std::string_view string : *strings) sum += string.size();
    }
    if (const auto reals = file.reals(key)) sum += reals->size();
    if (const auto integers = file.integers(key)) sum += integers->size();
  }
  for (const GgufTensor& tensor : file.tensors()) {
    sum += file.tensor(tensor.name) == &tensor ? tensor.rows() : 0;
    for (const std::byte byte : tensor.bytes) sum += static_cast<std::uint8_t>(byte);
  }
  return sum;
}

}  // namespace spectr
