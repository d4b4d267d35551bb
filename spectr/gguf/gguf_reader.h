#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/gguf/byte_cursor.h"
#include "spectr/gguf/gguf.h"

namespace spectr {

/// Reads the bytes of a GGUF file into a Gguf, from front to back:
///
///     header    magic "GGUF", version, number of tensors, number of metadata entries
///     metadata  entries of key, type, value
///     tensors   descriptions of name, number of dimensions, dimensions, type, offset
///     data      from the next multiple of the alignment on
///
/// Errors name the field; the caller prepends the file's name.
/// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md)
class GgufReader {
 public:
  GgufReader(std::span<const std::byte> bytes, Gguf& out) : bytes_(bytes), cursor_(bytes), out_(out) {}

  Result<void> read();

 private:
  Result<void> read_header();
  Result<void> read_entry();
  Result<void> read_alignment(GgufType type, const GgufValue& value);
  Result<void> read_description();
  Result<void> read_shape(GgufTensor& tensor);
  Result<void> place_tensors();

  std::span<const std::byte> bytes_;
  ByteCursor cursor_;
  Gguf& out_;
  std::uint64_t entry_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t alignment_ = 32;
  std::vector<std::uint64_t> sizes_, offsets_;  // of the tensors' data
};

}  // namespace spectr
