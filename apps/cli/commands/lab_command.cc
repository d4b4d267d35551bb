#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "spectr/base/os/process.h"

namespace spectr::cli {
namespace {

/// Replaces this process by spectr-lab, located next to it. Throws Failure if it cannot be run.
[[noreturn]] void become_laboratory(std::vector<std::string> arguments) {
  const std::filesystem::path folder = need(program_path()).parent_path();
  const std::string program = (folder / "spectr-lab").string();
  arguments.insert(arguments.begin(), program);
  const std::error_code failed = replace_process(std::move(arguments));
  throw Failure(Status::failed,
                fmt::format("{}: the laboratory cannot be run: {}", program, failed.message()));
}

}  // namespace

void add_lab(CLI::App& app) {
  CLI::App& lab = *app.add_subcommand("lab", "The papers' figures and tables, computed again");
  lab.set_help_flag();
  lab.set_help_all_flag();
  lab.prefix_command();  // the remaining arguments are those of another program
  lab.callback([&lab] { become_laboratory(lab.remaining()); });
}

}  // namespace spectr::cli
