#include <string>

#include "apps/cli/commands/commands.h"
#include "apps/cli/flags/flag_values.h"
#include "lab/presets/presets.h"
#include "spectr/base/names.h"

namespace spectr::cli {

CLI::Option* add_preset(CLI::App& command, std::string& name) {
  return command
      .add_option("--preset", name,
                  "the settings of a paper's table or figure: " + names_of(lab::presets(), " "))
      ->transform(not_empty("name"));
}

void add_bench(CLI::App& app) {
  CLI::App& bench = *app.add_subcommand("bench",
                                        "What speculation brings for a pair of models on this machine, what "
                                        "passes cost, and what rounding loses");
  bench.require_subcommand(1, 2);  // two for `bench pp tg`
  add_bench_methods(bench);
  add_bench_tune(bench);
  add_bench_widths(bench);
  add_bench_passes(bench);
  add_bench_select(bench);
  add_bench_divergence(bench);
  add_bench_cluster(bench);
  const auto is_passes = [](const CLI::App* command) {
    return command->get_name() == "pp" || command->get_name() == "tg";
  };
  const auto commands = bench.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* one : commands) {
    for (CLI::App* other : commands) {
      if (one != other && !(is_passes(one) && is_passes(other))) one->excludes(other);
    }
  }
}

}  // namespace spectr::cli
