#include "apps/bench/width_report.h"

#include <fmt/format.h>

#include <vector>

#include "apps/bench/table.h"

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
         fmt::format("{:.0f} %", 100.0 * width * roof.products_per_node / seconds / roof.products_per_second),
         joules.is_null() ? "n/a" : fmt::format("{:.3g}", joules.get<double>())});
  }
  return aligned({"nodes", "depth", "ms", "relative", "MB", "of memory", "of integer peak", "J"}, lines);
}

plot::Figure widths_figure(const Json& target, const Json& draft) {
  std::vector<plot::Series> all;
  add_series(target, "target", all);
  add_series(draft, "draft", all);
  return {"What a wider pass costs",
          {{"", {"nodes of the pass"}, {"time, relative to one node"}, std::move(all), "top left"}}};
}

}  // namespace spectr::bench
