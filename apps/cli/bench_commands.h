#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace spectr::cli {

// The subcommands of `spectr bench`; each is called with the app of `bench`.
void add_bench_methods(CLI::App& bench);
void add_bench_widths(CLI::App& bench);
void add_bench_passes(CLI::App& bench);
void add_bench_select(CLI::App& bench);

/// Asks for a preset by name; the name is checked when the command runs.
CLI::Option* add_preset(CLI::App& command, std::string& name);

}  // namespace spectr::cli
