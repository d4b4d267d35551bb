#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "spectr/base/os/process.h"
#include "spectr/engine/bundled_models.h"

namespace spectr::cli {
namespace {

/// Replaces this process by Python with the trainer, which runs this program for data and measurements.
/// Throws Failure if it cannot be run.
[[noreturn]] void become_trainer(const std::vector<std::string>& arguments) {
  const char* const chosen = std::getenv("SPECTR_PYTHON");
  const std::string python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  const std::string self = need(program_path()).string();
  std::vector<std::string> words = {python, "-B", need(trainer_folder()).string(), "--program", self};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::error_code failed = replace_process(std::move(words));
  throw Failure(Status::usage, fmt::format("{}: Python, which trains drafters, cannot be run: {}", python,
                                           failed.message()));
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
