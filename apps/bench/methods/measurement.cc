#include "apps/bench/methods/measurement.h"

#include <cmath>

namespace spectr::bench {
namespace {

std::optional<double> optional_of(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

/// Writes a take as a list of its members, in their order.
Json to_json(const std::vector<Take>& takes) {
  Json all = Json::array();
  for (const Take& t : takes)
    all.push_back({t.tokens, t.calls, t.seconds, t.negative_log_likelihood, or_null(t.joules),
                   or_null(t.score), or_null(t.sampled_joules)});
  return all;
}

std::vector<Take> takes_of(const Json& all) {
  std::vector<Take> takes;
  for (const Json& t : all) {
    takes.push_back({t[0].get<double>(), t[1].get<double>(), t[2].get<double>(), t[3].get<double>(),
                     optional_of(t[4]), optional_of(t[5]),
                     t.size() > 6 ? optional_of(t[6]) : std::nullopt});  // missing in older files
  }
  return takes;
}

}  // namespace

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

double Take::perplexity() const {
  return std::exp(negative_log_likelihood / tokens);
}

Json to_json(const Measurement& m) {
  return {
      {"takes", to_json(m.takes)},
      {"plain", to_json(m.plain)},
      {"shape", {m.shape.drafts, m.shape.length}},
      {"acceptance_rate", m.acceptance_rate},
      {"acceptance_per_position", m.acceptance_per_position},
      {"bias_tv", or_null(m.bias_tv)},
      {"seconds", {m.prompt_seconds, m.draft_seconds, m.target_seconds, m.select_seconds, m.total_seconds}}};
}

Measurement measurement_of(const Json& json) {
  const Json& seconds = json["seconds"];
  return {takes_of(json["takes"]),
          takes_of(json["plain"]),
          {json["shape"][0].get<std::size_t>(), json["shape"][1].get<std::size_t>()},
          json["acceptance_rate"].get<double>(),
          json["acceptance_per_position"].get<std::vector<double>>(),
          optional_of(json["bias_tv"]),
          seconds[0].get<double>(),
          seconds[1].get<double>(),
          seconds[2].get<double>(),
          seconds[3].get<double>(),
          seconds[4].get<double>()};
}

}  // namespace spectr::bench
