#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace spectr::cli {

/// What was typed, as the parser reads it.
struct Rewritten {
  std::vector<std::string> arguments;
  std::vector<std::string> notes;  ///< "FLAG: what is not done, or done anyway", one for each flag
};

/// Rewrites what users of llama.cpp type into what the parser reads. Flags of several letters behind one dash
/// get a name of the parser (`-md FILE` → `--model-draft FILE`); flags that ask for nothing here are left
/// out. The value of an option of `app` stays as it is, and so does everything after a prefix command, as
/// another program reads it. Throws Failure for flags that are not supported here, or only by other commands.
Rewritten rewrite_legacy_flags(const CLI::App& app, const std::vector<std::string>& arguments);

/// The options of `app` among the arguments of a command that has more of them, with their values, rewritten
/// in the same way. Never throws Failure.
std::vector<std::string> pick_options(const CLI::App& app, const std::vector<std::string>& arguments);

/// How many of the arguments after `arguments[at]` are values of that flag, as `command` or llama.cpp reads
/// it.
std::size_t count_values(const CLI::App& command, const std::vector<std::string>& arguments, std::size_t at);

/// A command as it is typed, e.g. "spectr bench widths".
std::string path_of(const CLI::App& command);

/// Lets options read variables under the names that older releases of llama.cpp gave them. Must be called
/// before parsing.
void read_old_variables(CLI::App& app);

/// Throws Failure for a variable of llama.cpp that asks for what its flag would be refused for. Prints on
/// standard error which variables change nothing, be it that nothing reads them. `command`: any of the
/// program that drafts; a variable means nothing to others.
void check_variables(const CLI::App& command);

}  // namespace spectr::cli
