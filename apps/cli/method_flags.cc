#include "apps/cli/method_flags.h"

#include <fmt/ranges.h>

#include <map>

#include "apps/cli/failure.h"
#include "spectr/transport/plans.h"

namespace spectr::cli {
namespace {

template <class Rules>
std::string names_of(const Rules& rules) {
  std::vector<std::string_view> names;
  for (const auto& rule : rules) names.push_back(rule.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::size_t at_least_one(std::optional<long> given, std::size_t otherwise, const char* flag) {
  if (!given) return otherwise;
  if (*given < 1) throw Failure(Status::usage, fmt::format("{} must be at least 1, got {}", flag, *given));
  return static_cast<std::size_t>(*given);
}

}  // namespace

void MethodFlags::add(CLI::App& app) {
  const std::string group = "Speculation";
  app.add_option("--method", method, "how to decode: " + names_of(method_rules()))->group(group);
  app.add_option("--plan", options.plan, "how to choose among drafts: " + names_of(plan_rules()))
      ->group(group);
  app.add_option("-K", drafts, "draft sequences per block")->group(group);
  app.add_option("-L,--length,--draft-max,--draft-n,--spec-draft-n-max", length, "tokens per draft sequence")
      ->envname("LLAMA_ARG_SPEC_DRAFT_N_MAX")
      ->group(group);
  add_settings(app);
}

void MethodFlags::add_settings(CLI::App& app) {
  const std::string group = "Speculation";
  app.add_option("--tree", options.tree, "factors k1,k2,… of a prefix tree of drafts (tree, traversal)")
      ->delimiter(',')
      ->group(group);
  app.add_option("--epsilon", options.epsilon, "over-acceptance of biased-opt and biased-uno")
      ->capture_default_str()
      ->group(group);
  app.add_option("--tau", options.tau, "threshold of mtad, in [0, 1)")->capture_default_str()->group(group);
  app.add_option("--beams", options.beams, "beams of mtad and mtjd")->capture_default_str()->group(group);
  app.add_option("--beam-mode", options.beam_mode, "draw beams, or take the top ones")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, BeamMode>{{"draw", BeamMode::draw}, {"top", BeamMode::top}}))
      ->default_str("draw")
      ->group(group);
  app.add_option("--bild-fallback", options.bild_fallback,
                 "bild drafts while its likeliest token has this probability")
      ->capture_default_str()
      ->group(group);
  app.add_option("--bild-rollback", options.bild_rollback, "bild takes tokens back whose -ln q exceeds this")
      ->capture_default_str()
      ->group(group);
  app.add_option("--ngram", options.ngram, "longest n-gram that ngram looks up")
      ->capture_default_str()
      ->group(group);
  app.add_option("--cost-file", cost_file, "where measured costs of passes are kept (auto)")->group(group);
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
  complete.drafts = at_least_one(drafts, drafts_otherwise, "-K");
  complete.length = at_least_one(length, length_otherwise, "-L");
  return complete;
}

}  // namespace spectr::cli
