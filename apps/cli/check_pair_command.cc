#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/model_flags.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/text/vocabulary_match.h"

namespace spectr::cli {

namespace {

/// Of a file that also describes a model that can be run.
std::unique_ptr<Tokenizer> tokenizer_of_model(const std::string& path) {
  const Gguf file = need(Gguf::open(path));
  (void)need(read_model_spec(file));
  return need(Tokenizer::load(file));
}

}  // namespace

void add_check_pair(CLI::App& app) {
  auto flags = std::make_shared<ModelFlags>();
  CLI::App& command = *app.add_subcommand(
      "check-pair", "Whether a draft model can draft for a target: exit status 0 yes, 2 no, with the reason");
  flags->add_model(command, true);
  flags->add_drafts(command);
  command.callback([flags] {
    if (flags->drafts.empty()) throw Failure(Status::usage, "no draft model: give -md FILE");
    const auto target = tokenizer_of_model(flags->model);
    for (const std::string& path : flags->drafts) {
      const auto draft = tokenizer_of_model(path);
      need(same_vocabulary(target->vocabulary(), draft->vocabulary()));
      fmt::print("{} can draft for {}: {} and {} tokens, equal where both have them\n", path, flags->model,
                 draft->vocabulary().size(), target->vocabulary().size());
    }
  });
}

}  // namespace spectr::cli
