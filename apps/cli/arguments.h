#pragma once

#include <CLI/App.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spectr::cli {

/// Rewrites what users of llama.cpp type into what the parser reads: flags of several letters behind one dash
/// (`-md FILE` → `--model-draft FILE`, `-k` → `-K`). Throws Failure for flags of llama.cpp that have no
/// meaning here, by name and with the reason. What an option of `app` takes as its value stays as it is, and
/// so does everything behind a prefix command, as another program reads it.
std::vector<std::string> rewrite_legacy_flags(const CLI::App& app, std::vector<std::string> arguments);

/// The same for llama.cpp's variables: throws Failure where one asks for what its flag would be refused for,
/// and names on standard error those that no command reads. Only for commands that draft, as a variable means
/// nothing to the others. `command`: any of the program.
void check_variables(const CLI::App& command);

/// The name that somebody may have meant: the closest one by Levenshtein's distance, if that is at most a
/// quarter of the letters given, rounded down; else an empty one.
std::string_view closest(std::string_view given, std::span<const std::string> names);

}  // namespace spectr::cli
