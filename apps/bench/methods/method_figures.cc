#include "apps/bench/methods/method_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "apps/bench/methods/row_label.h"

namespace spectr::bench {
namespace {

/// A value of a row with its spread; the spread is absent if the row has none.
struct Point {
  double value, spread;
};

double or_zero(const Json& value) {
  return value.is_null() ? 0.0 : value.get<double>();
}

std::optional<Point> point_of(const Json& row, const std::string& name) {
  if (!row.contains(name) || row[name].is_null()) return {};
  const Json& value = row[name];
  if (value.is_number()) {
    const double sd = or_zero(row.value(name + "_sd", Json()));
    return Point{value.get<double>(), sd > 0.0 ? sd : or_zero(row.value(name + "_se", Json()))};
  }
  const double sd = or_zero(value["sd"]);
  return Point{value["mean"].get<double>(), sd > 0.0 ? sd : or_zero(value.value("se", Json()))};
}

/// Returns the name of a series: all settings of the row except the one on the horizontal axis.
std::string series_name(Json row, const std::string& x, bool drafts, bool datasets) {
  if (!x.empty()) row[x] = nullptr;
  std::string name = label_of(row);
  const std::pair<const char*, const char*> shown[] = {{"drafts", "K"}, {"length", "L"}, {"beams", "beams"}};
  for (const auto& [member, letter] : shown) {
    if (!row[member].is_null()) name += fmt::format(", {} = {}", letter, row[member].dump());
  }
  if (drafts) name += ", " + draft_name(row);
  if (datasets && !row["dataset"].is_null()) name += ", " + row["dataset"].get<std::string>();
  return name;
}

bool several_datasets(const Json& rows) {
  return std::ranges::any_of(rows,
                             [&](const Json& row) { return row["dataset"] != rows.front()["dataset"]; });
}

/// Plots `y` against `x` with error bars, a series per other settings. Rows without both are skipped.
plot::Figure against(const Json& rows, const std::string& x, const std::string& y, std::string title,
                     const plot::Axis& horizontal, const plot::Axis& vertical) {
  const bool drafts = several_drafts(rows), datasets = several_datasets(rows);
  std::vector<plot::Series> all;
  std::map<std::string, std::size_t> known;
  for (const Json& row : rows) {
    const std::optional<Point> point = point_of(row, y);
    if (!point || row[x].is_null() || row["method"] == "plain") continue;
    std::string name = series_name(row, x, drafts, datasets);
    const auto [at, is_new] = known.try_emplace(name, all.size());
    if (is_new) all.push_back({std::move(name), plot::Style::bars, all.size() % 8, {}});
    all[at->second].points.push_back(
        {row[x].get<double>(), point->value, point->value - point->spread, point->value + point->spread});
  }
  return {std::move(title), {{"", horizontal, vertical, std::move(all), "outside right top"}}};
}

plot::Figure acceptance(const Json& rows) {
  const bool drafts = several_drafts(rows), datasets = several_datasets(rows);
  std::vector<plot::Series> all;
  for (const Json& row : rows) {
    const Json shares = row.value("acceptance_per_position", Json::array());
    if (shares.empty()) continue;
    plot::Series series{series_name(row, "", drafts, datasets), plot::Style::joined, all.size() % 8, {}};
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double share = shares[i].get<double>();
      series.points.push_back({static_cast<double>(i + 1), share, share, share});
    }
    all.push_back(std::move(series));
  }
  return {"Acceptance by position",
          {{"",
            {"position in the block"},
            {"share of blocks accepted so far", 0.0, 1.0},
            std::move(all),
            "outside right top"}}};
}

/// Returns true if a series has more than one point.
bool is_swept(const plot::Figure& figure) {
  return std::ranges::any_of(figure.panels.front().series,
                             [](const plot::Series& series) { return series.points.size() > 1; });
}

}  // namespace

std::vector<std::pair<std::string, plot::Figure>> method_figures(const Json& rows) {
  std::vector<std::pair<std::string, plot::Figure>> all;
  all.emplace_back("block-efficiency", against(rows, "drafts", "block_efficiency", "Tokens per target call",
                                               {"K, drafts"}, {"block efficiency, tokens per call"}));
  all.emplace_back("speed-up",
                   against(rows, "length", "speedup", "Speed against plain decoding of the same run",
                           {"L, tokens per draft"}, {"speed-up"}));
  all.emplace_back("acceptance", acceptance(rows));
  const std::pair<const char*, const char*> swept[] = {
      {"tau", "threshold τ"}, {"beams", "beams"}, {"length", "L, tokens per block"}};
  const std::pair<const char*, const char*> measures[] = {
      {"perplexity", "perplexity"}, {"tokens_per_second", "tokens per second"}, {"score", "score"}};
  for (const auto& [x, horizontal] : swept) {
    for (const auto& [y, vertical] : measures) {
      plot::Figure figure =
          against(rows, x, y, fmt::format("{} against {}", vertical, horizontal), {horizontal}, {vertical});
      if (is_swept(figure)) all.emplace_back(fmt::format("{}-against-{}", y, x), std::move(figure));
    }
  }
  return all;
}

}  // namespace spectr::bench
