#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectr {

// Chat templates by name, for files that have none or a wrong one. The names are llama.cpp's.

/// The template of that name, in Jinja; none: there is no such name.
std::optional<std::string> chat_form(std::string_view name);
/// All names, in alphabetical order.
std::vector<std::string_view> chat_form_names();

}  // namespace spectr
