#pragma once

#include <string_view>

#include "spectr/text/jinja/run.h"

namespace spectr::jinja {

// Python's operators. They charge the bytes that they read and make, and throw if they do not support the
// operands.

bool equal(Run& run, const Value& a, const Value& b);
bool less(Run& run, const Value& a, const Value& b);
/// Evaluates "==", "!=", "<", ">", "<=", ">=", "in" or "not in".
bool compare(Run& run, std::string_view symbol, const Value& a, const Value& b);

/// Evaluates "+", "-", "*", "/", "//", "%" or "**". Throws if an integer does not fit in 64 bits.
Value calculate(Run& run, std::string_view symbol, const Value& a, const Value& b);
/// Evaluates "~", which joins the text of both.
Value concatenate(Run& run, const Value& a, const Value& b);

}  // namespace spectr::jinja
