#pragma once

#include "spectr/base/result.h"
#include "spectr/gguf/byte_cursor.h"
#include "spectr/gguf/gguf.h"

namespace spectr {

/// Reads the 32-bit number of a type. Fails if no type has this number; `what` names the field.
Result<GgufType> read_type(ByteCursor& cursor, std::string_view what);

/// Reads a metadata value of this type. Arrays and the strings in them are validated but not decoded: the
/// elements of a GgufArray can be read later with this function, one by one, without errors. Nothing is
/// allocated.
Result<GgufValue> read_value(ByteCursor& cursor, GgufType type);

}  // namespace spectr
