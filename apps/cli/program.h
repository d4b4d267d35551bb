#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "apps/cli/failure.h"

namespace spectr::cli {

/// Adds a program's commands to the parser.
using AddCommands = std::function<void(CLI::App& app)>;

/// Prints the error line of a failure and returns the exit status.
int report_failure(Status status, std::string message);

/// Runs a program with its arguments, without the program name: parses them, runs their command, and reports
/// each failure in one line on standard error. Returns the exit status.
int run_program(std::vector<std::string> arguments, const AddCommands& add_commands);

}  // namespace spectr::cli
