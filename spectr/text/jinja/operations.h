#pragma once

#include <string_view>

#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

// Python's operators. They charge what they look at and what they make, and throw where the operands do not
// go with the operator.

bool equal(Run& run, const Value& a, const Value& b);
bool less(Run& run, const Value& a, const Value& b);
/// "==", "!=", "<", ">", "<=", ">=", "in", "not in".
bool compare(Run& run, std::string_view symbol, const Value& a, const Value& b);

/// "+", "-", "*", "/", "//", "%", "**". Integers that do not fit in 64 bits are errors.
Value calculate(Run& run, std::string_view symbol, const Value& a, const Value& b);
/// "~": the text of both.
Value concatenate(Run& run, const Value& a, const Value& b);

}  // namespace spectr::jinja
