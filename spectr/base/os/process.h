#pragma once

#include <cstdio>
#include <expected>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "spectr/base/result.h"

namespace spectr {

/// Returns the id of this process.
int process_id();

/// Returns the path of this program's file, with links resolved.
Result<std::filesystem::path> program_path();

/// Replaces this process by the program arguments[0], which is looked up in PATH unless it has a slash.
/// Returns only if that fails, with the reason. Requires: arguments is not empty.
std::error_code replace_process(std::vector<std::string> arguments);

/// The standard input, output and error of a process, which are files; null: those of this process.
struct ProcessFiles {
  std::FILE* input = nullptr;
  std::FILE* output = nullptr;
  std::FILE* error = nullptr;
};

/// Runs the program arguments[0], which is looked up in PATH unless it has a slash, and waits for its end.
/// It reads `files.input` from its start; afterwards `files.output` and `files.error` are at their starts.
/// Returns its exit status, or 128 plus the number of the signal that ended it. Fails if it cannot be run.
/// Requires: arguments is not empty.
std::expected<int, std::error_code> run_process(std::vector<std::string> arguments,
                                                const ProcessFiles& files);

}  // namespace spectr
