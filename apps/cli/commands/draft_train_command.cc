#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "spectr/engine/bundled_models.h"

namespace spectr::cli {
namespace {

/// Replaces this process by Python with the trainer, which runs this program for data and measurements.
/// Throws Failure if it cannot be run.
[[noreturn]] void become_trainer(const std::vector<std::string>& arguments) {
  const char* const chosen = std::getenv("SPECTR_PYTHON");
  const std::string python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) throw Failure(Status::failed, fmt::format("/proc/self/exe: {}", failed.message()));
  std::vector<std::string> words = {python, "-B", need(trainer_folder()).string(), "--program",
                                    self.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(python.c_str(), argv.data());
  throw Failure(Status::usage, fmt::format("{}: Python, which trains drafters, cannot be run: {}", python,
                                           std::strerror(errno)));
}

}  // namespace

void add_draft_train(CLI::App& draft) {
  CLI::App& command = *draft.add_subcommand(
      "train", "Train a drafter for a target (with PyTorch, by $SPECTR_PYTHON or python3)");
  command.set_help_flag();
  command.set_help_all_flag();
  command.prefix_command();  // the remaining arguments are the trainer's
  command.callback([&command] { become_trainer(command.remaining()); });
}

}  // namespace spectr::cli
