#include "lab/presets/claims.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "apps/bench/mean.h"
#include "apps/plot/data_table.h"
#include "spectr/base/check.h"

namespace spectr::lab {
namespace {

using namespace bench;

using Measure = std::optional<PaperValue> Printed::*;

const char* name_of(ClaimedRatio::Of of) {
  return of == ClaimedRatio::Of::speed ? "speed" : "energy";
}

/// Returns the printed value of a method's first cell in a column.
std::optional<double> printed_of(const Column& column, std::string_view method, Measure measure) {
  const auto cells = cells_of(column, column.settings, 1);
  SPECTR_CHECK(cells.has_value());  // a test expands every preset
  for (const PresetCell& cell : *cells) {
    if (cell.cell.method->name != method || cell.printed == nullptr || !(cell.printed->*measure)) continue;
    return (cell.printed->*measure)->mean;
  }
  return {};
}

/// Returns the ratio with which larger is better: method/to for speeds, to/method for energies.
double ratio(std::string_view of, double method, double to) {
  return of == "speed" ? method / to : to / method;
}

/// Returns the row that the claim compares with `row`.
const Json* base_of(const Json& rows, const Json& row, const std::string& to) {
  for (const Json& other : rows) {
    if (other["method"] == to && other["dataset"] == row["dataset"] && other["column"] == row["column"] &&
        other["models"]["draft"] == row["models"]["draft"]) {
      return &other;
    }
  }
  return nullptr;
}

}  // namespace

Json claims_json(const Preset& preset) {
  Json all = Json::array();
  for (const ClaimedRatio& claim : preset.claims) {
    const bool speed = claim.of == ClaimedRatio::Of::speed;
    const Measure measure = speed ? &Printed::tokens_per_second : &Printed::joules_per_token;
    std::vector<double> ratios;
    for (const Column& column : preset.columns) {
      const auto method = printed_of(column, claim.method, measure),
                 to = printed_of(column, claim.to, measure);
      if (method && to) ratios.push_back(ratio(name_of(claim.of), *method, *to));
    }
    all.push_back({{"of", name_of(claim.of)},
                   {"method", claim.method},
                   {"to", claim.to},
                   {"printed", claim.printed.value},
                   {"as_printed", claim.printed.text()},
                   {"paper", ratios.empty() ? Json(nullptr) : Json(mean_of(ratios).value)}});
  }
  return all;
}

void add_measured(Json& claims, const Json& rows) {
  for (Json& claim : claims) {
    const char* member = claim["of"] == "speed" ? "speedup" : "joules_per_token";
    std::vector<double> ratios;
    for (const Json& row : rows) {
      if (row["method"] != claim["method"]) continue;
      const Json* base = base_of(rows, row, claim["to"].get<std::string>());
      if (base == nullptr || row[member].is_null() || (*base)[member].is_null()) continue;
      ratios.push_back(
          ratio(claim["of"].get<std::string>(), row[member].get<double>(), (*base)[member].get<double>()));
    }
    claim["ours"] = ratios.empty() ? Json(nullptr) : Json(mean_of(ratios).value);
    claim["ours_over"] = ratios.size();
  }
}

std::string claims_table(const Json& claims) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& claim : claims) {
    const auto number = [&](const char* name) {
      return !claim.contains(name) || claim[name].is_null()
                 ? std::string("n/a")
                 : fmt::format("{:.3f}", claim[name].get<double>());
    };
    lines.push_back({fmt::format("{} of {} over {}", claim["of"].get<std::string>(),
                                 claim["method"].get<std::string>(), claim["to"].get<std::string>()),
                     number("ours"), claim["as_printed"].get<std::string>(), number("paper")});
  }
  return plot::aligned({"mean ratio", "ours", "paper's text", "its table"}, lines);
}

}  // namespace spectr::lab
