#include "apps/cli/flags/method_flags.h"

#include <fmt/ranges.h>

#include "apps/cli/failure.h"
#include "apps/cli/flags/flag_values.h"
#include "spectr/base/names.h"
#include "spectr/transport/plans.h"

namespace spectr::cli {

BeamMode beam_mode_of(const std::string& name) {
  if (name == "draw") return BeamMode::draw;
  if (name == "top") return BeamMode::top;
  throw CLI::ValidationError("--beam-mode", fmt::format("must be draw or top, got '{}'", name));
}

namespace {

BeamWarp beam_warp_of(const std::string& name) {
  if (name == "token") return BeamWarp::token;
  if (name == "joint") return BeamWarp::joint;
  throw CLI::ValidationError("--beam-warp", fmt::format("must be token or joint, got '{}'", name));
}

JointLaw joint_law_of(const std::string& name) {
  if (name == "warped") return JointLaw::warped;
  if (name == "raw") return JointLaw::raw;
  throw CLI::ValidationError("--joint", fmt::format("must be warped or raw, got '{}'", name));
}

}  // namespace

void MethodFlags::add(CLI::App& app) {
  const std::string group = "Speculation";
  app.add_option("--method", request.method,
                 "how to decode (default: auto with a draft model, else plain; with -K, -L, --plan or --tree "
                 "spectr or tree): " +
                     names_of(method_rules(), " "))
      ->group(group);
  app.add_option("--plan", request.others.plan, "how to choose among drafts: " + names_of(plan_rules(), " "))
      ->group(group);
  app.add_option("-K", request.drafts,
                 "draft sequences per block (default: the best by what passes cost; law: 1); of mtad the "
                 "beams that are verified (default: 1)")
      ->transform(whole(1))
      ->group(group);
  app.add_option(length_names, request.length,
                 "tokens per draft sequence (default: the best by what passes cost; law: 2)")
      ->envname("LLAMA_ARG_SPEC_DRAFT_N_MAX")
      ->transform(whole(1))
      ->group(group);
  add_settings(app);
  app.add_option("--tau", request.others.tau, "threshold of mtad, in [0, 1]; 1 accepts nothing")
      ->transform(real())
      ->capture_default_str()
      ->group(group);
  app.add_option("--beams", request.others.beams, "beams of mtad and mtjd")
      ->transform(whole(1))
      ->capture_default_str()
      ->group(group);
  app.add_option_function<std::string>(
         "--beam-mode", [this](const std::string& name) { request.others.beam_mode = beam_mode_of(name); },
         "draw beams, or take the top ones")
      ->type_name("draw|top")
      ->default_str("draw")
      ->group(group);
  app.add_option("--bild-fallback", request.others.bild_fallback,
                 "bild drafts while its likeliest token has this probability")
      ->transform(real())
      ->capture_default_str()
      ->group(group);
  app.add_option("--bild-rollback", request.others.bild_rollback,
                 "bild takes tokens back whose -ln q exceeds this")
      ->transform(real())
      ->capture_default_str()
      ->group(group);
}

void MethodFlags::add_settings(CLI::App& app) {
  const std::string group = "Speculation";
  add_list(app, "--tree", request.others.tree,
           "factors k1,k2,… of a prefix tree of drafts (tree, traversal, conditional)", 1)
      ->group(group);
  app.add_option(
         "--trunk", request.others.trunk,
         "tokens that the K sequences share before they branch, of their L (spectr, traversal, conditional)")
      ->transform(whole(0, 1023))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--look", request.others.look, "conditional verifies children in the order that promises most")
      ->group(group);
  app.add_option("--epsilon", request.others.epsilon,
                 "over-acceptance of biased-opt and biased-uno, and of plans epsilon-opt and epsilon-uno; "
                 "below 0 they accept too little")
      ->transform(real())
      ->capture_default_str()
      ->group(group);
  app.add_option("--rounds", request.others.rounds, "rounds of plan str+, each a linear program")
      ->transform(whole(1, 1'000'000))
      ->capture_default_str()
      ->group(group);
  app.add_option_function<std::string>(
         "--beam-warp", [this](const std::string& name) { request.others.beam_warp = beam_warp_of(name); },
         "filter each token's law of mtad's and mtjd's beams, or their joint law")
      ->type_name("token|joint")
      ->default_str("token")
      ->group(group);
  app.add_option_function<std::string>(
         "--joint", [this](const std::string& name) { request.others.joint = joint_law_of(name); },
         "mtad compares joint likelihoods of the filtered laws, or the models' own")
      ->type_name("warped|raw")
      ->default_str("warped")
      ->group(group);
  add_list(app, "--gammas", request.others.gammas, "tokens of mtjd's blocks, in turn (default: L each)", 1)
      ->group(group);
  app.add_option("--ngram", request.others.ngram, "longest n-gram that ngram looks up")
      ->transform(whole(1))
      ->capture_default_str()
      ->group(group);
}

void MethodFlags::add_cost_file(CLI::App& app) {
  app.add_option("--cost-file", cost_file,
                 "where measured costs of passes are kept (auto, and where -K or -L is left open)")
      ->transform(file_name())
      ->group("Speculation");
  app.add_option(
         "--load", request.load,
         "texts that share every pass, by which auto, and an open K or L, weigh what a drafted row costs")
      ->transform(whole(1, 1024))
      ->group("Speculation");
}

const MethodRule& MethodFlags::rule(std::size_t draft_models) const {
  return *need(request.rule(draft_models));
}

void check_settings(const MethodRule& rule, const MethodRequest& request, const MethodOptions& settings) {
  std::optional<DraftShape> shape;
  if (rule.reads(Setting::costs)) {
    need(check_options(rule, settings));
  } else {
    shape = need(make_decoder(rule, settings)).shape();
  }
  const auto tell = [&](const char* flag, std::optional<std::size_t> given,
                        std::size_t DraftShape::* drafted) {
    if (!given || (shape && (*shape).*drafted == *given)) return;
    fmt::print(stderr, "{} {} is not used: method {} {}\n", flag, *given, rule.name,
               !shape              ? "chooses for itself"
               : shape->drafts > 0 ? fmt::format("drafts K {}, L {} here", shape->drafts, shape->length)
                                   : "drafts nothing");
  };
  tell("-K", request.drafts, &DraftShape::drafts);
  tell("-L", request.length, &DraftShape::length);
  for (const std::string_view name : unread_settings(rule, settings))
    fmt::print(stderr, "--{} is not used: method {} does not read it\n", name, rule.name);
}

void tell_bias(const MethodRule& rule, const MethodOptions& settings) {
  if (is_lossless(rule, settings)) return;
  fmt::print(stderr, "method {} is biased: the output's distribution is not the target's\n", rule.name);
}

void check_drafts(const MethodRule& rule, std::size_t draft_models) {
  if (draft_models < rule.models.min)
    throw Failure(Status::usage, fmt::format("method {} needs a draft model: give -md FILE", rule.name));
  if (rule.models.max == 1 && draft_models > 1) {
    throw Failure(Status::usage,
                  fmt::format("method {} takes one draft model, got {}", rule.name, draft_models));
  }
}

}  // namespace spectr::cli
