#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace spectr::cli {

/// Rewrites what users of llama.cpp type into what the parser reads: flags of several letters behind one dash
/// (`-md FILE` → `--model-draft FILE`, `-k` → `-K`). Throws Failure for flags of llama.cpp that have no
/// meaning here, by name and with the reason. What an option of `app` takes as its value stays as it is.
std::vector<std::string> modernise(const CLI::App& app, std::vector<std::string> arguments);

/// The same for variables: throws Failure where one asks for what its flag would be refused for. Only for
/// commands that draft, as a variable means nothing to the others.
void refuse_variables();

}  // namespace spectr::cli
