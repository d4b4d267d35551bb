#pragma once

#include <string>
#include <vector>

namespace spectr::cli {

/// Rewrites what users of llama.cpp type into what the parser reads: flags of several letters behind one dash
/// (`-md FILE` → `--model-draft FILE`, `-k` → `-K`). Throws Failure for flags of llama.cpp that have no
/// meaning here, by name and with the reason.
std::vector<std::string> modernise(std::vector<std::string> arguments);

}  // namespace spectr::cli
