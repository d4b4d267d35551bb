#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spectr {

/// Foreign text made fit for one line of a message: in double quotes, with control characters, quotes,
/// backslashes and bytes that are not UTF-8 escaped, and cut after `limit` bytes ("…" follows).
std::string quote(std::string_view text, std::size_t limit = 80);

}  // namespace spectr
