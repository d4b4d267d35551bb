#pragma once

#include <algorithm>
#include <string_view>

namespace spectr::server {

/// Whether two names of hosts, origins or schemes are the same: their case does not count.
inline bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace spectr::server
