#pragma once

#include <cstdint>
#include <string_view>

#include "spectr/text/jinja/value.h"

namespace spectr::jinja {

/// An integer or a truth value as an integer. Requires: one of them.
std::int64_t integer_value(const Value& value);

/// Python's +, -, *, /, //, % and ** of two numbers. Throws on a division by zero, and where an integer does
/// not fit in 64 bits. Requires: numbers.
Value calculate_number(std::string_view symbol, const Value& a, const Value& b);

}  // namespace spectr::jinja
