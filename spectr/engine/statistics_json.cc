#include "spectr/engine/statistics_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace spectr {

std::string statistics_json(const CompletionResult& result, const DecodingSettings& settings) {
  using StatisticsJson = nlohmann::ordered_json;
  const Statistics& s = result.statistics;
  const MethodRule& method = *settings.method;
  const auto optional = [](const std::optional<double>& number) {
    return number ? StatisticsJson(*number) : StatisticsJson(nullptr);
  };
  StatisticsJson json = {
      {"method", method.name},
      {"plan", method.plan.empty()
                   ? StatisticsJson(nullptr)
                   : StatisticsJson(settings.options.plan.value_or(std::string(method.plan)))},
      {"drafts", result.shape.drafts},
      {"length", result.shape.length},
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
      {"bias_tv", optional(s.bias_tv())},
      {"rejection", optional(s.rejection())},
      {"prompt_tokens", result.cached + result.computed},
      {"stop_reason", name(result.reason)},
      {"stop_word", result.stop_word}};
  if (result.shape.trunk > 0) json["trunk"] = result.shape.trunk;
  return json.dump(-1, ' ', false, StatisticsJson::error_handler_t::replace);
}

}  // namespace spectr
