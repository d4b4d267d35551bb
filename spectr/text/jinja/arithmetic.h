#pragma once

#include <cstdint>
#include <string_view>

#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// Converts an integer or a boolean to an integer. Requires: one of these.
std::int64_t integer_value(const Value& value);

/// Computes Python's +, -, *, /, //, % and ** of two numbers. Throws on a division by zero, and if an integer
/// does not fit in 64 bits. Requires: numbers.
Value calculate_number(std::string_view symbol, const Value& a, const Value& b);

}  // namespace spectr::jinja
