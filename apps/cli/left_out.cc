// Commands of components that this build leaves out: each prints how to build them.

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"

namespace spectr::cli {
namespace {

[[maybe_unused]] void add_left_out(CLI::App& app, const std::string& name, const std::string& component) {
  CLI::App& command = *app.add_subcommand(name, "Left out of this build");
  command.set_help_flag();
  command.prefix_command();
  command.callback([name, component] {
    throw Failure(Status::usage,
                  fmt::format("{}: this build leaves it out; build with -DSPECTR_COMPONENTS=all, or use "
                              "./run {}, which adds the component {}",
                              name, name, component));
  });
}

}  // namespace

#ifdef SPECTR_WITHOUT_SERVER
void add_serve(CLI::App& app) {
  add_left_out(app, "serve", "server");
}
#endif

#ifdef SPECTR_WITHOUT_BENCH
void add_plan(CLI::App& app) {
  add_left_out(app, "plan", "bench");
}

void add_bench(CLI::App& app) {
  add_left_out(app, "bench", "bench");
}
#endif

}  // namespace spectr::cli
