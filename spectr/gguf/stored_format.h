#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spectr {

/// How a tensor type of GGUF files stores numbers: `elements` consecutive numbers of a row take `bytes`
/// bytes. Files may contain all of these types; tensor_type.h has those that can be decoded.
struct StoredFormat {
  std::uint32_t type;     ///< its number in files
  std::string_view name;  ///< "Q4_K"
  std::size_t elements;
  std::size_t bytes;
};

/// Returns the format with this number in files; nullopt if there is none.
std::optional<StoredFormat> stored_format(std::uint32_t type);

/// Describes a format that llama.cpp has retired, or that only ik_llama.cpp writes: "IQ4_K of ik_llama.cpp".
/// Such files cannot be read. Returns an empty string for other numbers.
std::string retired_or_foreign_format(std::uint32_t type);

/// Returns the names of the supported formats, for messages: "F32, F16, …".
std::string supported_formats();

}  // namespace spectr
