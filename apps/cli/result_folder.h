#pragma once

#include <string>

namespace spectr::cli {

/// Makes a folder for results unless it is there, and tries whether it can be written: before a long run, not
/// after it. Throws Failure.
void prepare_folder(const std::string& folder);

}  // namespace spectr::cli
