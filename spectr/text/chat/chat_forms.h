#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spectr {

// Chat templates by name, for files with no template or a wrong one. The names are those of llama.cpp.

/// Returns the template of that name, in Jinja; nothing if the name is unknown.
std::optional<std::string> chat_form(std::string_view name);
/// Returns all names, in alphabetical order.
std::vector<std::string_view> chat_form_names();

}  // namespace spectr
