#include "apps/bench/printed.h"

namespace spectr::bench {
namespace {

Json to_json(const std::optional<PaperValue>& value) {
  if (!value) return nullptr;
  return {{"mean", value->mean}, {"sd", value->sd ? Json(*value->sd) : Json(nullptr)}};
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

Json to_json(const PrintedPass& printed, std::string_view source) {
  return {{"source", source},
          {"relative", to_json(printed.relative)},
          {"joules_per_run", or_null(printed.joules_per_run)},
          {"joules_per_input", or_null(printed.joules_per_input)},
          {"seconds_per_run", or_null(printed.seconds_per_run)},
          {"seconds_per_input", or_null(printed.seconds_per_input)}};
}

Json to_json(const Printed& printed, std::string_view source) {
  Json json = {{"source", source},
               {"tokens_per_second", to_json(printed.tokens_per_second)},
               {"joules_per_token", to_json(printed.joules_per_token)},
               {"perplexity", to_json(printed.perplexity)},
               {"block_efficiency", to_json(printed.block_efficiency)},
               {"speedup", to_json(printed.speedup)},
               {"score", to_json(printed.score)}};
  for (const auto& [category, value] : printed.score_by_category) json["score_by_category"][category] = value;
  return json;
}

}  // namespace spectr::bench
