// Entry point of the program `spectr`.

#include <string>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/flags/rank_flags.h"
#include "apps/cli/program.h"

int main(int argc, char** argv) {
  using namespace spectr::cli;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto add_commands = [](CLI::App& app) {
    add_generate(app);
    add_tokenize(app);
    add_detokenize(app);
    add_logits(app);
    add_embed(app);
    add_perplexity(app);
    add_inspect(app);
    add_models(app);
    add_check_pair(app);
    add_draft(app);
    add_law(app);
    add_plan(app);
    add_serve(app);
    add_chat(app);
    add_lab(app);
    add_bench(app);
  };
  return run_as_rank(arguments, [&] { return run_program(arguments, add_commands); });
}
