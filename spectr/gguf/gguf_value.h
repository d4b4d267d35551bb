#pragma once

#include "spectr/base/result.h"
#include "spectr/gguf/byte_cursor.h"
#include "spectr/gguf/gguf.h"

namespace spectr {

/// The 32-bit number of a type. Error: the number stands for none; `what` names the field.
Result<GgufType> read_type(ByteCursor& cursor, std::string_view what);

/// A metadata value of that type. Arrays are measured, and every string in them, but not decoded: what is in
/// a GgufArray can be read again with this function, element by element, without errors. Nothing is
/// allocated.
Result<GgufValue> read_value(ByteCursor& cursor, GgufType type);

}  // namespace spectr
