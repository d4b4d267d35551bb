#pragma once

#include <string>
#include <string_view>

namespace spectr {

/// Returns the text in Unicode's normal form C (UAX #15): a letter and its marks become the composed
/// character if there is one, and the marks of a letter have canonical order. Bytes that are not UTF-8 are
/// kept, and nothing is composed across them. Cost: O(n log n), whatever the marks.
std::string composed_text(std::string_view text);

}  // namespace spectr
