#include "apps/cli/method_flags.h"

#include <fmt/ranges.h>

#include "apps/cli/failure.h"
#include "apps/cli/flag_values.h"
#include "spectr/transport/plans.h"

namespace spectr::cli {
namespace {

template <class Rules>
std::string names_of(const Rules& rules) {
  std::vector<std::string_view> names;
  for (const auto& rule : rules) names.push_back(rule.name);
  return fmt::format("{}", fmt::join(names, " "));
}

BeamMode beam_mode_of(const std::string& name) {
  if (name == "draw") return BeamMode::draw;
  if (name == "top") return BeamMode::top;
  throw CLI::ValidationError("--beam-mode", fmt::format("must be draw or top, got '{}'", name));
}

}  // namespace

void MethodFlags::add(CLI::App& app) {
  const std::string group = "Speculation";
  app.add_option("--method", method, "how to decode: " + names_of(method_rules()))->group(group);
  app.add_option("--plan", options.plan, "how to choose among drafts: " + names_of(plan_rules()))
      ->group(group);
  app.add_option("-K", drafts, "draft sequences per block")->transform(whole(1))->group(group);
  app.add_option(length_names, length, "tokens per draft sequence")
      ->envname("LLAMA_ARG_SPEC_DRAFT_N_MAX")
      ->transform(whole(1))
      ->group(group);
  add_settings(app);
}

void MethodFlags::add_settings(CLI::App& app) {
  const std::string group = "Speculation";
  add_list(app, "--tree", options.tree, "factors k1,k2,… of a prefix tree of drafts (tree, traversal)", 1)
      ->group(group);
  app.add_option("--epsilon", options.epsilon, "over-acceptance of biased-opt and biased-uno")
      ->transform(real())
      ->capture_default_str()
      ->group(group);
  app.add_option("--tau", options.tau, "threshold of mtad, in [0, 1)")
      ->transform(real())
      ->capture_default_str()
      ->group(group);
  app.add_option("--beams", options.beams, "beams of mtad and mtjd")
      ->transform(whole(1))
      ->capture_default_str()
      ->group(group);
  app.add_option_function<std::string>(
         "--beam-mode", [this](const std::string& name) { options.beam_mode = beam_mode_of(name); },
         "draw beams, or take the top ones")
      ->type_name("draw|top")
      ->default_str("draw")
      ->group(group);
  app.add_option("--bild-fallback", options.bild_fallback,
                 "bild drafts while its likeliest token has this probability")
      ->transform(real())
      ->capture_default_str()
      ->group(group);
  app.add_option("--bild-rollback", options.bild_rollback, "bild takes tokens back whose -ln q exceeds this")
      ->transform(real())
      ->capture_default_str()
      ->group(group);
  app.add_option("--ngram", options.ngram, "longest n-gram that ngram looks up")
      ->transform(whole(1))
      ->capture_default_str()
      ->group(group);
}

void MethodFlags::add_cost_file(CLI::App& app) {
  app.add_option("--cost-file", cost_file, "where measured costs of passes are kept (auto)")
      ->transform(file_name())
      ->group("Speculation");
}

const MethodRule& MethodFlags::rule(std::size_t draft_models) const {
  if (method) return *need(find_method(*method));
  if (draft_models == 0) return *need(find_method("plain"));
  if (draft_models > 1) return *need(find_method("specinfer"));
  if (!options.tree.empty()) return *need(find_method("tree"));
  return *need(find_method(options.plan || drafts || length ? "spectr" : "auto"));
}

MethodOptions MethodFlags::complete(std::size_t drafts_otherwise, std::size_t length_otherwise) const {
  MethodOptions complete = options;
  complete.drafts = drafts.value_or(drafts_otherwise);
  complete.length = length.value_or(length_otherwise);
  return complete;
}

void check_drafts(const MethodRule& rule, std::size_t draft_models) {
  if (rule.models != DraftModels::none && draft_models == 0)
    throw Failure(Status::usage, fmt::format("method {} needs a draft model: give -md FILE", rule.name));
  if (rule.models == DraftModels::one && draft_models > 1) {
    throw Failure(Status::usage,
                  fmt::format("method {} takes one draft model, got {}", rule.name, draft_models));
  }
}

}  // namespace spectr::cli
