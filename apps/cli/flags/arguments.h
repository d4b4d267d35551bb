#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace spectr::cli {

/// Arguments rewritten for the parser.
struct Rewritten {
  std::vector<std::string> arguments;
  std::vector<std::string> notes;  ///< "FLAG: what is not done, or done anyway", once per flag
};

/// Rewrites llama.cpp's arguments for the parser. Single-dash flags with several letters get a name that the
/// parser supports (`-md FILE` → `--model-draft FILE`); neutral flags are dropped. Values of options of `app`
/// are unchanged, and so is everything after a prefix command, which another program parses. Throws Failure
/// for flags that are unsupported or belong to other commands.
Rewritten rewrite_legacy_flags(const CLI::App& app, const std::vector<std::string>& arguments);

/// Picks the options of `app`, with their values, from the arguments of a command that has further options.
/// Rewrites them in the same way. Never throws Failure.
std::vector<std::string> pick_options(const CLI::App& app, const std::vector<std::string>& arguments);

/// Returns how many of the arguments after `arguments[at]` are values of that flag, according to `command` or
/// else to llama.cpp.
std::size_t count_values(const CLI::App& command, const std::vector<std::string>& arguments, std::size_t at);

/// Returns the full name of a command, e.g. "spectr bench widths".
std::string path_of(const CLI::App& command);

/// Lets options also read environment variables by the names of older releases of llama.cpp. Must be called
/// before parsing.
void read_old_variables(CLI::App& app);

/// Checks llama.cpp's environment variables. Throws Failure for values that would be refused as flags, and
/// prints on standard error which variables have no effect or are unknown. `command` is any command that
/// drafts; the variables do not apply to others.
void check_variables(const CLI::App& command);

}  // namespace spectr::cli
