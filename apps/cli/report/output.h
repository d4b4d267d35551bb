#pragma once

#include <string>
#include <string_view>

#include "apps/support/json.h"

namespace spectr::cli {

/// Writes text to standard output unchanged.
void put(std::string_view text);

/// Prints a value as one line on standard output.
void print_json(const Json& value);

/// Creates a folder for results if necessary and checks that it is writable, before a long run.
/// Throws Failure.
void prepare_folder(const std::string& folder);

}  // namespace spectr::cli
