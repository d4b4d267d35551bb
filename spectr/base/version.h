#pragma once

#include <cstdint>
#include <string_view>

namespace spectr {

/// "MAJOR.MINOR.PATCH", as in the build's project() line.
std::string_view version();

/// The commit that the build was made from, in twelve hexadecimal digits; empty where it was not made from a
/// repository. Sources may have been changed since: build_identity() tells.
std::string_view commit();

/// A hash of the library's sources, the compiler and its flags. Processes that exchange structures as they
/// lie in memory must be of one build; what one build has measured need not hold for another.
std::uint64_t build_identity();

}  // namespace spectr
