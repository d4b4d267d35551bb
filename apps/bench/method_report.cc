#include "apps/bench/method_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "apps/bench/table.h"

namespace spectr::bench {
namespace {

std::string with_error(const Json& row, const char* name) {
  const Json& error = row[std::string(name) + "_se"];
  return error.is_null() ? fmt::format("{:.2f}", row[name].get<double>())
                         : fmt::format("{:.2f} ± {:.2f}", row[name].get<double>(), error.get<double>());
}

/// "draft 40 target 50 select 6": per cent of the time after the prompts.
std::string split(const Json& seconds) {
  const double rest = seconds["total"].get<double>() - seconds["prompt"].get<double>();
  const auto share = [&](const char* stage) {
    return rest > 0.0 ? 100.0 * seconds[stage].get<double>() / rest : 0.0;
  };
  return fmt::format("{:.0f}/{:.0f}/{:.0f}", share("draft"), share("target"), share("select"));
}

bool is_plain(const Json& row) {
  return row["method"] == "plain";
}

/// Method and plan, and what else tells rows apart.
std::string label(const Json& row) {
  std::string text = row["method"].get<std::string>();
  if (!row["plan"].is_null()) text += " " + row["plan"].get<std::string>();
  if (row.contains("tau")) text += fmt::format(" τ={}", row["tau"].get<double>());
  return text;
}

std::string draft_of(const Json& row) {
  return row.contains("draft") ? std::filesystem::path(row["draft"].get<std::string>()).stem().string() : "";
}

/// Total variation per token from the target's distribution.
std::string bias_of(const Json& row) {
  return row["bias_tv"].is_null() ? "unknown" : fmt::format("{:.4f}", row["bias_tv"].get<double>());
}

bool several_drafts(const Json& rows) {
  std::set<std::string> drafts;
  for (const Json& row : rows) {
    if (row.contains("draft")) drafts.insert(draft_of(row));
  }
  return drafts.size() > 1;
}

/// `y` against `x` with error bars, a series per label and per value of `other`; plain decoding is left out.
plot::Figure against(const Json& rows, const char* x, const char* other, const char* y, std::string title,
                     const plot::Axis& horizontal, const plot::Axis& vertical) {
  const bool drafts = several_drafts(rows);
  std::vector<plot::Series> all;
  std::map<std::string, std::size_t> known;
  for (const Json& row : rows) {
    if (is_plain(row)) continue;
    std::string name = fmt::format("{}, {} = {}", label(row), other == std::string("length") ? "L" : "K",
                                   row[other].get<std::size_t>());
    if (drafts) name += ", " + draft_of(row);
    const auto [at, is_new] = known.try_emplace(name, all.size());
    if (is_new) all.push_back({name, plot::Style::bars, all.size() % 8, {}});
    const double value = row[y].get<double>();
    const Json& error = row[std::string(y) + "_se"];
    const double half = error.is_null() ? 0.0 : error.get<double>();
    all[at->second].points.push_back({row[x].get<double>(), value, value - half, value + half});
  }
  return {std::move(title), {{"", horizontal, vertical, std::move(all), "outside right top"}}};
}

}  // namespace

std::string methods_table(const Json& rows) {
  const bool drafts = several_drafts(rows);
  std::vector<std::string> columns = {
      "method",   "K",        "L",          "tokens/call", "accepted",
      "tokens/s", "speed-up", "perplexity", "J/token",     "draft/target/select %"};
  bool biased = false, rouge = false;
  for (const Json& row : rows) {
    biased = biased || row["bias_tv"] != 0.0;
    rouge = rouge || row.contains("rouge_l");
  }
  if (biased) columns.emplace_back("bias");
  if (rouge) columns.emplace_back("ROUGE-L");
  if (drafts) columns.emplace_back("draft");
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    const Json& joules = row["joules_per_token"];
    std::vector<std::string> line = {
        label(row),
        is_plain(row) ? "" : row["drafts"].dump(),
        is_plain(row) ? "" : row["length"].dump(),
        with_error(row, "block_efficiency"),
        is_plain(row) ? "" : fmt::format("{:.0f} %", 100.0 * row["acceptance_rate"].get<double>()),
        fmt::format("{:.0f}", row["tokens_per_second"].get<double>()),
        is_plain(row) ? "1" : with_error(row, "speedup"),
        fmt::format("{:.2f}", row["perplexity"].get<double>()),
        joules.is_null() ? "n/a" : fmt::format("{:.3g}", joules.get<double>()),
        split(row["seconds"])};
    if (biased) line.push_back(bias_of(row));
    if (rouge)
      line.push_back(row.contains("rouge_l") ? fmt::format("{:.3f}", row["rouge_l"].get<double>()) : "");
    if (drafts) line.push_back(draft_of(row));
    lines.push_back(std::move(line));
  }
  return aligned(columns, lines);
}

plot::Figure efficiency_figure(const Json& rows) {
  return against(rows, "drafts", "length", "block_efficiency", "Tokens per target call", {"K, drafts"},
                 {"block efficiency, tokens per call"});
}

plot::Figure speedup_figure(const Json& rows) {
  return against(rows, "length", "drafts", "speedup", "Speed against plain decoding of the same run",
                 {"L, tokens per draft"}, {"speed-up"});
}

plot::Figure acceptance_figure(const Json& rows) {
  const bool drafts = several_drafts(rows);
  std::vector<plot::Series> all;
  for (const Json& row : rows) {
    const Json& shares = row["acceptance_per_position"];
    if (shares.empty()) continue;
    std::string name =
        fmt::format("{}, K = {}, L = {}", label(row), row["drafts"].dump(), row["length"].dump());
    if (drafts) name += ", " + draft_of(row);
    plot::Series series{std::move(name), plot::Style::joined, all.size() % 8, {}};
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

}  // namespace spectr::bench
