#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/commands/commands.h"
#include "apps/cli/failure.h"
#include "apps/cli/flags/model_flags.h"
#include "spectr/base/names.h"
#include "spectr/engine/costs/slim_trial.h"
#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/drafters/drafters.h"
#include "spectr/text/vocabulary_match.h"

namespace spectr::cli {

namespace {

/// Describes what a trained drafter reads of its target: "the states before layers 1, 2 and the final state".
std::string inputs_of(const DrafterSpec& drafter) {
  std::vector<std::size_t> states, caches;
  bool is_final = false;
  for (const TapSpec& tap : drafter.taps) {
    is_final |= tap.normed;
    if (!tap.normed) states.push_back(tap.layer);
  }
  for (const LayerSpec& layer : drafter.model.layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr || !attention->kv_of_target) continue;
    if (std::ranges::find(caches, *attention->kv_from) == caches.end()) caches.push_back(*attention->kv_from);
  }
  std::vector<std::string> inputs;
  if (!states.empty()) inputs.push_back(fmt::format("the states before layers {}", fmt::join(states, ", ")));
  if (is_final) inputs.emplace_back("the final state");
  if (!caches.empty())
    inputs.push_back(fmt::format("the keys and values of layers {}", fmt::join(caches, ", ")));
  return fmt::format("{}", fmt::join(inputs, " and "));
}

/// Prints how the draft's vocabulary differs from the target's. Throws Failure if they do not match.
void print_match(const std::string& path, const std::string& model, const Vocabulary& draft,
                 const Vocabulary& target) {
  const VocabularyDifferences differences = need(same_vocabulary(target, draft));
  fmt::print(
      "{} can draft for {}: {} and {} tokens, {}\n", path, model, draft.size(), target.size(),
      differences.special == 0 ? "equal where both have them" : "the same but for special ones and padding");
  if (differences.special == 0) return;
  const auto shown = [token = *differences.first](const Vocabulary& vocabulary) {
    const bool has = static_cast<std::size_t>(token) < vocabulary.size();
    return has ? quote(vocabulary.text(token)) : "absent";
  };
  fmt::print(
      "  {} special tokens differ, of at most {}; the first is {}: {} in the draft, {} in the target.\n"
      "  Where a text has one of them, drafts are rejected more often.\n",
      differences.special, max_special_differences, *differences.first, shown(draft), shown(target));
}

/// Formats the options as flags.
std::string describe(const SlimOptions& options) {
  if (options == SlimOptions()) return "as it is";
  std::string flags;
  if (options.type) flags += fmt::format("--draft-type {} ", lower_case(format_of(*options.type).name));
  if (const auto* words = std::get_if<std::size_t>(&options.words))
    flags += fmt::format("--draft-vocab {} ", *words);
  return flags.substr(0, flags.size() - 1);
}

/// Prints the measured benefit of each draft model and of its slimmed variants.
void measure(const ModelFlags& flags) {
  const EngineModels models =
      need(EngineModels::load({.target = flags.model, .threads = flags.thread_count()}));
  for (const std::string& path : flags.drafts) {
    const auto trials = need(try_slim(*models.target, *models.tokenizer, path, *models.pool, {}));
    fmt::print("\n{:<44}  {:>12}  {:>10}  {:>14}\n", path, "ms per pass", "accepted", "times as fast");
    for (const SlimTrial& trial : trials.trials) {
      fmt::print("  {:<42}  {:>12.2f}  {:>8.1f} %  {:>14.2f}\n", describe(trial.options),
                 1e3 * trial.pass_seconds, 100.0 * trial.acceptance, trial.speedup);
    }
    const SlimTrial& best = trials.trials[trials.best];
    if (best.speedup <= 1.0) {
      fmt::print("No chain of drafts would pay here.\n");
    } else if (best.options == SlimOptions()) {
      fmt::print("Best as it is.\n");
    } else {
      fmt::print("Best with {}, which auto takes by itself for drafts of 64 MiB or more.\n",
                 describe(best.options));
    }
  }
}

}  // namespace

void add_check_pair(CLI::App& app) {
  auto flags = std::make_shared<ModelFlags>();
  auto measures = std::make_shared<bool>(false);
  CLI::App& command = *app.add_subcommand(
      "check-pair", "Whether a draft model can draft for a target: exit status 0 yes, 2 no, with the reason");
  flags->add_model(command, true);
  flags->add_draft_files(command);
  flags->add_threads(command);
  command.add_flag("--measure", *measures,
                   "also load both: what the best chain of drafts would bring, and what a slim draft would");
  command.callback([flags, measures] {
    if (flags->drafts.empty()) throw Failure(Status::usage, "no draft model: give -md FILE");
    const Gguf target_file = need(Gguf::open(flags->model));
    const ModelSpec spec = need(read_model_spec(target_file));
    const auto target = need(Tokenizer::load(target_file));
    for (const std::string& path : flags->drafts) {
      const Gguf file = need(Gguf::open(path));
      const bool is_trained =
          is_trained_drafter(file) || (path == flags->model && has_next_token_layer(file));
      if (is_trained && *measures)
        throw Failure(Status::usage, fmt::format("{}: is a trained drafter: --measure does not apply", path));
      std::optional<DrafterSpec> drafter;
      if (is_trained) {
        drafter = need(read_drafter_spec(file, spec));
      } else {
        (void)need(read_model_spec(file));
      }
      print_match(path, flags->model, need(Tokenizer::load(file))->vocabulary(), target->vocabulary());
      if (!drafter) continue;
      fmt::print("  It is a trained drafter of type {}, which reads {} of the target.\n", drafter->kind,
                 inputs_of(*drafter));
    }
    if (*measures) measure(*flags);
  });
}

}  // namespace spectr::cli
