#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"

namespace spectr::cli {
namespace {

/// Replaces this process by spectr-lab, located next to it. Throws Failure if it cannot be run.
[[noreturn]] void become_laboratory(std::vector<std::string> arguments) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) throw Failure(Status::failed, fmt::format("/proc/self/exe: {}", failed.message()));
  std::string program = (self.parent_path() / "spectr-lab").string();
  std::vector<char*> argv = {program.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw Failure(Status::failed,
                fmt::format("{}: the laboratory cannot be run: {}", program, std::strerror(errno)));
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
