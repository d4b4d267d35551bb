#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace spectr {

/// Returns a regular expression that matches as a whole exactly the texts in which `pattern` (ECMAScript)
/// matches somewhere. It is ASCII without anchors. The error says why there is none: what is not regular,
/// such as look-around, anchors within a group, or repetitions that write out more than 20,000 characters.
std::expected<std::string, std::string> whole_pattern(std::string_view pattern);

/// Returns a pattern of exactly the texts of a format of JSON Schema: date, time, date-time and ipv4.
std::optional<std::string> format_pattern(std::string_view format);

/// True if the grammar of a schema keeps a format, by format_pattern() or by itself.
bool is_known_format(std::string_view format);

}  // namespace spectr
