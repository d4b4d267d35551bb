#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spectr::cli {

/// Returns the name closest to a misspelled one by edit distance (swaps of adjacent letters count once), if
/// the distance is at most a quarter of its length, rounded down. Otherwise returns an empty name.
std::string_view closest(std::string_view given, std::span<const std::string> names);

/// Replaces words such as `help serve`, `serve help` or `version` by the corresponding flags.
std::vector<std::string> replace_help_words(std::vector<std::string> arguments);

/// Throws Failure with a suggested command if the arguments begin with a flag, with a model, or with another
/// program's name of a command.
void check_command(const CLI::App& app, const std::vector<std::string>& arguments);

/// Returns the error message for invalid arguments, which names the unknown ones. If these are a
/// model or a prompt without a flag, the message suggests a command. `typed` are the arguments
/// of the program.
std::string explain(const CLI::App& app, const std::vector<std::string>& typed,
                    const CLI::ParseError& failure);

/// Validates the file name of a model, for transform(). For a name that is not a path, the error explains how
/// to specify a cached model.
CLI::Validator model_file();

}  // namespace spectr::cli
