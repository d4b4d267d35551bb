#include <memory>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/feature_writer.h"
#include "apps/cli/flags/flag_values.h"

namespace spectr::cli {

void add_draft_features(CLI::App& draft) {
  auto flags = std::make_shared<FeatureFlags>();
  CLI::App& command = *draft.add_subcommand(
      "features",
      "Training data for a drafter: what the target computes for texts that are given or that it\n"
      "writes. An interrupted run continues where it ended");
  flags->add(command);
  command.add_option("-o,--output", flags->output, "the file to write or to complete")
      ->transform(file_name())
      ->required();
  command.callback([flags] { write_features(*flags); });
}

}  // namespace spectr::cli
