#pragma once

#include <string>
#include <string_view>

#include "spectr/base/result.h"

namespace spectr::jinja {

/// What stands between the quotes of a string, with Python's escapes replaced. Error: an escape that is cut
/// off, that is no character, or that is not supported.
Result<std::string> unescaped(std::string_view text);

}  // namespace spectr::jinja
