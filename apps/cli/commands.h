#pragma once

#include <CLI/CLI.hpp>

namespace spectr::cli {

// Each adds its subcommand with flags, help and callback. The callback throws Failure.
void add_generate(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_detokenize(CLI::App& app);
void add_logits(CLI::App& app);
void add_perplexity(CLI::App& app);
void add_inspect(CLI::App& app);
void add_check_pair(CLI::App& app);
void add_law(CLI::App& app);
void add_lab(CLI::App& app);
void add_plan(CLI::App& app);
void add_bench(CLI::App& app);
void add_serve(CLI::App& app);
void add_chat(CLI::App& app);

}  // namespace spectr::cli
