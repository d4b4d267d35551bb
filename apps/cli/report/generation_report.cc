#include "apps/cli/report/generation_report.h"

#include <fmt/format.h>

#include <vector>

#include "spectr/transport/plans.h"

namespace spectr::cli {

bool GenerationReport::lossless() const {
  return is_lossless(method, {.plan = plan.empty() ? std::nullopt : std::optional(plan)});
}

double GenerationReport::speedup() const {
  const double plainly = plain->statistics.tokens_per_second();
  return plainly > 0.0 ? generation.statistics.tokens_per_second() / plainly : 0.0;
}

Json GenerationReport::json() const {
  const Statistics& s = generation.statistics;
  std::vector<std::string_view> sources;
  for (Source source : generation.sources) sources.push_back(name(source));
  Json stats = {{"method", method.name},
                {"plan", plan.empty() ? Json(nullptr) : Json(plan)},
                {"drafts", shape.drafts},
                {"length", shape.length},
                {"generated", s.generated()},
                {"target_calls", s.target_calls()},
                {"block_efficiency", s.block_efficiency()},
                {"drafted", s.drafted()},
                {"accepted", s.accepted()},
                {"acceptance_rate", s.acceptance_rate()},
                {"acceptance_per_position", s.acceptance_per_position()},
                {"perplexity", s.perplexity()},
                {"seconds",
                 {{"prompt", s.prompt_seconds},
                  {"draft", s.stages.draft},
                  {"target", s.stages.target},
                  {"select", s.stages.select},
                  {"total", s.total_seconds}}},
                {"tokens_per_second", s.tokens_per_second()},
                {"bias_tv", s.bias_tv() ? Json(*s.bias_tv()) : Json(nullptr)},
                {"rejection", s.rejection() ? Json(*s.rejection()) : Json(nullptr)}};
  if (shape.trunk > 0) stats["trunk"] = shape.trunk;
  Json out = {{"text", text},   {"tokens", generation.tokens}, {"token_sources", sources},
              {"stats", stats}, {"stop_reason", stop},         {"seed", seed}};
  if (costs_hash) {
    out["costs_hash"] = fmt::format("{:016x}", *costs_hash);
    out["load"] = load;
  }
  if (plain) {
    out["compare"] = {{"tokens_per_second", plain->statistics.tokens_per_second()}, {"speedup", speedup()}};
  }
  return out;
}

void GenerationReport::print(std::FILE* out, bool with_costs_hash) const {
  const Statistics& s = generation.statistics;
  std::string how(method.name);
  if (!plan.empty()) how += fmt::format(", plan {}", plan);
  if (shape.drafts > 0) how += fmt::format(", K {}, L {}", shape.drafts, shape.length);
  if (shape.trunk > 0) how += fmt::format(", trunk {}", shape.trunk);
  fmt::print(out, "\nmethod      {}\n", how);
  fmt::print(out, "text        {} tokens in {} target calls: {:.2f} tokens per call (stopped by: {})\n",
             s.generated(), s.target_calls(), s.block_efficiency(), stop);
  if (s.drafted() > 0) {
    fmt::print(out, "drafts      {} drafted, {} accepted ({:.0f} %); per position", s.drafted(), s.accepted(),
               100.0 * s.acceptance_rate());
    for (double share : s.acceptance_per_position()) fmt::print(out, " {:.2f}", share);
    fmt::print(out, "\n");
  }
  if (const auto bias = s.bias_tv(); !lossless() && bias) {
    fmt::print(out,
               "bias        the output's distribution is not the target's: {:.4f} total variation per token",
               *bias);
    if (const auto rejection = s.rejection()) fmt::print(out, ", {:.4f} rejections expected", *rejection);
    fmt::print(out, "\n");
  } else if (!lossless()) {
    fmt::print(
        out,
        "bias        the output's distribution is not the target's; it depends on whole sequences and is not "
        "computed\n");
  }
  fmt::print(out, "perplexity  {:.3f} under the target\n", s.perplexity());
  const double other =
      s.total_seconds - s.prompt_seconds - s.stages.draft - s.stages.target - s.stages.select;
  fmt::print(out,
             "time        {:.3f} s: prompt {:.3f}, draft {:.3f}, target {:.3f}, select {:.3f}, other {:.3f}; "
             "loading {:.3f}\n",
             s.total_seconds, s.prompt_seconds, s.stages.draft, s.stages.target, s.stages.select, other,
             load_seconds);
  fmt::print(out, "speed       {:.1f} tokens/s", s.tokens_per_second());
  if (plain) {
    fmt::print(out, "; plain decoding {:.1f} tokens/s: {:.2f} times as fast",
               plain->statistics.tokens_per_second(), speedup());
  }
  fmt::print(out, "\nseed        {}", seed);
  if (with_costs_hash && costs_hash) fmt::print(out, ", with costs {:016x}", *costs_hash);
  fmt::print(out, "\n");
}

}  // namespace spectr::cli
