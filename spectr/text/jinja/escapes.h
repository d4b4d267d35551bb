#pragma once

#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr::jinja {

/// Returns the text between the quotes of a string with Python's escapes replaced. Error: an escape that is
/// truncated, denotes no character, or is not supported.
Result<std::string> unescaped(std::string_view text);

}  // namespace spectr::jinja
