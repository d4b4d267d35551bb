#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spectr::cli {

/// The name that somebody may have meant: the closest one by Levenshtein's distance, if that is at most a
/// quarter of the letters given, rounded down; else an empty one.
std::string_view closest(std::string_view given, std::span<const std::string> names);

/// Arguments that ask for help by a word, `help serve`, with the flag that does.
std::vector<std::string> replace_help_words(std::vector<std::string> arguments);

/// Throws Failure with the command that was probably meant, if the arguments begin with a flag, with a model
/// or with what another program calls a command.
void check_command(const CLI::App& app, const std::vector<std::string>& arguments);

/// The message for arguments that cannot be parsed; it names the first unknown one. If that is a model or a
/// prompt without its flag, it has the command that was probably meant. `typed`: what was given to the
/// program.
std::string explain(const CLI::App& app, const std::vector<std::string>& typed,
                    const CLI::ParseError& failure);

/// The file of a model, for transform(). The error for a name that is no path says how a cached model is
/// given.
CLI::Validator model_file();

}  // namespace spectr::cli
