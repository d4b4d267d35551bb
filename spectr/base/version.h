#pragma once

#include <string_view>

namespace spectr {

/// "MAJOR.MINOR.PATCH", as in the build's project() line.
std::string_view version();

}  // namespace spectr
