#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spectr {

/// How a tensor type of GGUF files stores numbers: `elements` consecutive numbers of a row take `bytes`
/// bytes. Files can have all of these types; tensor_type.h has those whose numbers can be read.
struct StoredFormat {
  std::uint32_t type;     ///< its number in files
  std::string_view name;  ///< "Q4_K"
  std::size_t elements;
  std::size_t bytes;
};

/// The format with this number in a file, nullopt if there is none.
std::optional<StoredFormat> stored_format(std::uint32_t type);

/// What a number stands for that llama.cpp has given up, or that only ik_llama.cpp writes: "IQ4_K of
/// ik_llama.cpp". Files that have it cannot be read. Empty where it is none of these.
std::string retired_or_foreign_format(std::uint32_t type);

/// The names of the supported formats, for messages: "F32, F16, …".
std::string supported_formats();

}  // namespace spectr
