#include "apps/bench/passes/width_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "apps/plot/data_table.h"

namespace spectr::bench {
namespace {

void add_series(const Json& rows, std::string_view who, std::vector<plot::Series>& all) {
  double depth = -1.0;
  for (const Json& row : rows) {
    if (row["depth"].get<double>() != depth) {
      depth = row["depth"].get<double>();
      all.push_back({fmt::format("{}, depth {}", who, depth), plot::Style::joined, all.size() % 8, {}});
    }
    const double relative = row["relative"].get<double>();
    all.back().points.push_back({row["width"].get<double>(), relative, relative, relative});
  }
}

}  // namespace

std::string widths_table(const Json& rows, const Roofline& roof) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    const double seconds = row["ms"].get<double>() * 1e-3, width = row["width"].get<double>();
    const Json& joules = row["joules"];
    lines.push_back(
        {row["width"].dump(), row["depth"].dump(), fmt::format("{:.3f}", row["ms"].get<double>()),
         fmt::format("{:.2f}", row["relative"].get<double>()),
         fmt::format("{:.1f}", row["weight_mb"].get<double>()),
         fmt::format("{:.0f} %", 1e8 * row["weight_mb"].get<double>() / seconds / roof.bytes_per_second),
         roof.products_per_second ? fmt::format("{:.0f} %", 100.0 * width * roof.products_per_node / seconds /
                                                                *roof.products_per_second)
                                  : "n/a",
         joules.is_null() ? "n/a" : fmt::format("{:.3g}", joules.get<double>())});
  }
  return plot::aligned({"nodes", "depth", "ms", "relative", "MB", "of memory", "of integer peak", "J"},
                       lines);
}

std::string batches_table(const Json& rows) {
  std::vector<std::string> names = {"length",   "batch", "ms", "fastest", "relative",
                                    "ms/input", "s",     "J",  "J/run",   "J/input"};
  std::vector<std::pair<const char*, const char*>> printed;  // members of `paper` that a row has, with titles
  for (const auto& [measure, title] :
       std::initializer_list<std::pair<const char*, const char*>>{{"relative", "paper: relative"},
                                                                  {"seconds", "paper: s"},
                                                                  {"seconds_per_run", "s/run"},
                                                                  {"seconds_per_input", "s/input"},
                                                                  {"joules", "J"},
                                                                  {"joules_per_run", "J/run"},
                                                                  {"joules_per_input", "J/input"}}) {
    const auto has = [&](const Json& row) {
      return !row["paper"].is_null() && !row["paper"][measure].is_null();
    };
    if (std::ranges::none_of(rows, has)) continue;
    printed.emplace_back(measure, title);
    names.emplace_back(title);
  }
  const auto energy = [](const Json& joules) {
    return joules.is_null() ? "n/a" : fmt::format("{:.3g}", joules.get<double>());
  };
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    const double mean = row["mean_ms"].get<double>(), relative = row["relative"].get<double>();
    const double deviation = row["sd_ms"].is_null() ? 0.0 : row["sd_ms"].get<double>();
    lines.push_back({row["length"].dump(), row["batch"].dump(),
                     fmt::format("{:.3f} ± {:.3f}", mean, deviation),
                     fmt::format("{:.3f}", row["ms"].get<double>()),
                     fmt::format("{:.2f} ± {:.2f}", relative, relative * deviation / mean),
                     fmt::format("{:.3f}", row["ms_per_input"].get<double>()),
                     fmt::format("{:.3g}", row["seconds"].get<double>()), energy(row["joules"]),
                     energy(row["joules_per_run"]), energy(row["joules_per_input"])});
    for (const auto& [measure, title] : printed) {
      lines.back().push_back(row["paper"].is_null() ? "" : row["paper"]["as_printed"].value(measure, ""));
    }
  }
  return plot::aligned(names, lines);
}

plot::Figure widths_figure(const Json& target, const Json& draft) {
  std::vector<plot::Series> all;
  add_series(target, "target", all);
  add_series(draft, "draft", all);
  return {"What a wider pass costs",
          {{"", {"nodes of the pass"}, {"time, relative to one node"}, std::move(all), "top left"}}};
}

}  // namespace spectr::bench
