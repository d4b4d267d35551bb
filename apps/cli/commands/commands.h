#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace spectr::cli {

// Functions that add a subcommand with its flags, help and callback. Callbacks throw Failure.
void add_generate(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_detokenize(CLI::App& app);
void add_logits(CLI::App& app);
void add_embed(CLI::App& app);
void add_perplexity(CLI::App& app);
void add_inspect(CLI::App& app);
void add_models(CLI::App& app);
void add_check_pair(CLI::App& app);
void add_draft(CLI::App& app);
void add_law(CLI::App& app);
void add_plan(CLI::App& app);
void add_bench(CLI::App& app);
void add_serve(CLI::App& app);
void add_chat(CLI::App& app);
/// Runs the program spectr-lab, located next to this one, with the remaining arguments.
void add_lab(CLI::App& app);

// Subcommands of `spectr draft`. `draft` is the app of that command.
void add_draft_logits(CLI::App& draft);
void add_draft_features(CLI::App& draft);
void add_draft_train(CLI::App& draft);

// Subcommands of `spectr bench`. `bench` is the app of that command.
void add_bench_methods(CLI::App& bench);
void add_bench_tune(CLI::App& bench);
void add_bench_widths(CLI::App& bench);
void add_bench_passes(CLI::App& bench);
void add_bench_select(CLI::App& bench);
void add_bench_divergence(CLI::App& bench);
void add_bench_cluster(CLI::App& bench);

/// Adds the option that selects a preset by name. The name is checked when the command runs.
CLI::Option* add_preset(CLI::App& command, std::string& name);

}  // namespace spectr::cli
