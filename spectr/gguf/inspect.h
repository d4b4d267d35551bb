#pragma once

#include <string>

#include "spectr/gguf/gguf.h"

namespace spectr {

/// What a file holds, for people: version, metadata (long strings and arrays cut), tensors with type, shape
/// and size, totals. Lines end in a newline; nothing from the file can break out of its line.
std::string describe(const Gguf& file);

/// A metadata value as a line of text; of an array the first elements.
std::string describe(const GgufValue& value);

}  // namespace spectr
