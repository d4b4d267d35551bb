#pragma once

#include <string>
#include <string_view>

#include "apps/support/json.h"

namespace spectr::cli {

/// Writes text to standard output as it is.
void put(std::string_view text);

/// Prints a value as one line on standard output.
void print_json(const Json& value);

/// Makes a folder for results unless it is there, and tries whether it can be written: before a long run, not
/// after it. Throws Failure.
void prepare_folder(const std::string& folder);

}  // namespace spectr::cli
