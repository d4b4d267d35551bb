#pragma once

#include <cstdint>
#include <string_view>

namespace spectr {

/// Returns "MAJOR.MINOR.PATCH", as in the build's project() line.
std::string_view version();

/// Returns the commit that the build was made from, as twelve hexadecimal digits, or nothing if it was not
/// made from a repository. Sources may have been modified since; compare build_identity() to detect that.
std::string_view commit();

/// Returns a hash of the library's sources, the compiler and its flags. Processes that exchange structures in
/// their memory layout must be of the same build, and measurements of one build may not apply to another.
std::uint64_t build_identity();

}  // namespace spectr
