#pragma once

#include <string>

#include "apps/chat/run.h"

namespace spectr::chat {

/// Without the characters at its ends: white space, or those of `characters`.
std::string strip(const std::string& text, const Value& characters, bool left, bool right);

/// Every occurrence of the first argument becomes the second.
Value replaced(Run& run, const std::string& text, const Arguments& arguments);

enum class Case { upper, lower, first_upper, title };
/// ASCII letters only.
std::string in_case(const std::string& text, Case which);

}  // namespace spectr::chat
