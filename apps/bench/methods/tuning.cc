#include "apps/bench/methods/tuning.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace spectr::bench {
namespace {

std::optional<double> value_of(const Json& row, const Objective& objective) {
  Json value = row[objective.field];
  if (value.is_object()) value = value["mean"];
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

}  // namespace

std::vector<std::size_t> best_rows(const Json& rows, const Objective& objective) {
  struct Best {
    std::pair<std::string, std::string> who;  // method and draft model
    std::size_t row;
    double value;
  };
  std::vector<Best> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::optional<double> value = value_of(rows[i], objective);
    if (!value) continue;
    const std::pair who(rows[i]["method"].get<std::string>(), text_of(rows[i]["models"]["draft"]));
    const auto found = std::ranges::find(best, who, &Best::who);
    if (found == best.end()) {
      best.push_back({who, i, *value});
    } else if (objective.largest ? *value > found->value : *value < found->value) {
      found->row = i;
      found->value = *value;
    }
  }
  std::vector<std::size_t> chosen;
  for (const Best& one : best) chosen.push_back(one.row);
  return chosen;
}

}  // namespace spectr::bench
