#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spectr {

/// Foreign text made fit for one line of a message: control characters, quotes, backslashes and bytes that
/// are not UTF-8 are escaped; what is longer than `limit` bytes is cut, and "…" follows.
std::string escape(std::string_view text, std::size_t limit = 80);

/// The same in double quotes ("…" stands behind them).
std::string quote(std::string_view text, std::size_t limit = 80);

}  // namespace spectr
