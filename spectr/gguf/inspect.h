#pragma once

#include <string>

#include "spectr/gguf/gguf.h"

namespace spectr {

/// Describes a file for people: version, metadata (long strings and arrays truncated), tensors with type,
/// shape and size, totals. Every line ends in a newline; strings from the file cannot add lines.
std::string describe(const Gguf& file);

/// Formats a metadata value as a line of text; of an array, the first elements.
std::string describe(const GgufValue& value);

}  // namespace spectr
