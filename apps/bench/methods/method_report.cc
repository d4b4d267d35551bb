#include "apps/bench/methods/method_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "apps/bench/methods/row_label.h"
#include "apps/plot/data_table.h"

namespace spectr::bench {
namespace {

/// A column of the table: its name and a function that formats a row's cell.
struct TableColumn {
  std::string name;
  std::function<std::string(const Json& row)> text;
};

bool is_plain(const Json& row) {
  return row["method"] == "plain";
}

/// Returns true if the row has a member of that name that is not null.
bool has(const Json& row, const char* name) {
  return row.contains(name) && !row[name].is_null();
}

std::string number(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

/// Formats a value as "2.14 ± 0.03", with the standard deviation or else the standard error.
std::string with_spread(const Json& value, int digits) {
  if (value.is_null()) return "";
  std::string text = number(value["mean"].get<double>(), digits);
  for (const char* spread : {"sd", "se"}) {
    if (has(value, spread)) return text + " ± " + number(value[spread].get<double>(), digits);
  }
  return text;
}

/// Formats the members `name`, `name_sd` and `name_se` in the same way.
std::string with_spread(const Json& row, const std::string& name, int digits) {
  if (!has(row, name.c_str())) return "";
  Json value = {{"mean", row[name]}};
  for (const char* spread : {"sd", "se"}) value[spread] = row.value(name + "_" + spread, Json());
  return with_spread(value, digits);
}

/// Returns the paper's value with the digits that the paper prints.
std::string printed(const Json& row, const char* name) {
  if (!has(row, "paper") || !has(row["paper"], name)) return "";
  const Json& value = row["paper"][name];
  if (value.is_number()) return number(value.get<double>(), 2);  // computed from printed values
  return row["paper"].value("as_printed", Json::object()).value(name, "");
}

TableColumn paper(const char* name) {
  return {"paper", [name](const Json& row) { return printed(row, name); }};
}

/// Formats the shares of the time after prefill in per cent, as "40/50/6".
std::string split(const Json& row) {
  if (!row.contains("seconds")) return "";
  const Json& seconds = row["seconds"];
  const double rest = seconds["total"].get<double>() - seconds["prompt"].get<double>();
  const auto share = [&](const char* stage) {
    return rest > 0.0 ? 100.0 * seconds[stage].get<double>() / rest : 0.0;
  };
  return fmt::format("{:.0f}/{:.0f}/{:.0f}", share("draft"), share("target"), share("select"));
}

std::string energy(const Json& row) {
  if (!row.contains("joules_per_token")) return "";
  if (row["joules_per_token"].is_null()) return "n/a";
  std::string text = fmt::format("{:.3g}", row["joules_per_token"].get<double>());
  if (has(row, "joules_per_token_sd"))
    text += fmt::format(" ± {:.2g}", row["joules_per_token_sd"].get<double>());
  return text;
}

/// Formats the total variation distance per token from the target's distribution.
std::string bias(const Json& row) {
  if (!row.contains("bias_tv")) return "";
  return row["bias_tv"].is_null() ? "unknown" : number(row["bias_tv"].get<double>(), 4);
}

std::string filters(const Json& row) {
  const Json& warp = row["warp"];
  if (warp.is_null()) return "";
  return fmt::format("T {}, k {}, p {}", warp["temperature"].get<double>(), warp["top_k"].dump(),
                     warp["top_p"].get<double>());
}

std::string text_of(const Json& row, const char* name) {
  if (!has(row, name)) return "";
  return row[name].is_string() ? row[name].get<std::string>() : row[name].dump();
}

TableColumn member(const char* title, const char* name) {
  return {title, [name](const Json& row) { return text_of(row, name); }};
}

bool differ(const Json& rows, const std::function<std::string(const Json&)>& text) {
  return std::ranges::any_of(rows, [&](const Json& row) { return text(row) != text(rows.front()); });
}

std::string score_name(const Json& rows) {
  for (const Json& row : rows) {
    if (row["score"].is_object()) return row["score"]["name"].get<std::string>();
  }
  return "score";
}

std::vector<TableColumn> columns_of(const Json& rows) {
  std::vector<TableColumn> columns = {{"method", label_of},
                                      member("rank", "rank"),
                                      member("K", "drafts"),
                                      member("L", "length"),
                                      member("beams", "beams")};
  if (differ(rows, [](const Json& row) { return text_of(row, "column"); }))
    columns.insert(columns.begin() + 1, member("column", "column"));
  if (differ(rows, filters)) columns.push_back({"filters", filters});
  const std::vector<TableColumn> measured = {
      {"tokens/call", [](const Json& row) { return with_spread(row.value("block_efficiency", Json()), 2); }},
      paper("block_efficiency"),
      {"of totals",
       [](const Json& row) {
         return has(row, "block_efficiency") ? number(row["block_efficiency"]["totals"].get<double>(), 2)
                                             : "";
       }},
      {"accepted",
       [](const Json& row) {
         if (is_plain(row) || !has(row, "acceptance_rate")) return std::string();
         return fmt::format("{:.0f} %", 100.0 * row["acceptance_rate"].get<double>());
       }},
      {"tokens/s", [](const Json& row) { return with_spread(row.value("tokens_per_second", Json()), 0); }},
      paper("tokens_per_second"),
      {"speed-up",
       [](const Json& row) {
         if (!row.contains("speedup")) return std::string();
         return is_plain(row) ? "1" : with_spread(row, "speedup", 2);
       }},
      paper("speedup"),
      {"relative",
       [](const Json& row) { return has(row, "relative") ? number(row["relative"].get<double>(), 2) : ""; }},
      paper("relative"),
      {"perplexity", [](const Json& row) { return with_spread(row["perplexity"], 2); }},
      paper("perplexity"),
      {"J/token", energy},
      paper("joules_per_token"),
      {score_name(rows), [](const Json& row) { return with_spread(row["score"], 3); }},
      paper("score"),
      {"draft/target/select %", split}};
  columns.insert(columns.end(), measured.begin(), measured.end());
  const auto is_biased = [](const Json& row) { return row.contains("bias_tv") && row["bias_tv"] != 0.0; };
  if (std::ranges::any_of(rows, is_biased)) columns.push_back({"bias", bias});
  if (several_drafts(rows)) columns.push_back({"draft", draft_name});
  return columns;
}

}  // namespace

std::string methods_table(const Json& rows) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> lines(rows.size());
  for (const TableColumn& column : columns_of(rows)) {
    std::vector<std::string> texts;
    for (const Json& row : rows) texts.push_back(column.text(row));
    if (std::ranges::all_of(texts, &std::string::empty)) continue;
    names.push_back(column.name);
    for (std::size_t i = 0; i < texts.size(); ++i) lines[i].push_back(texts[i]);
  }
  return plot::aligned(names, lines);
}

std::string categories_table(const Json& rows) {
  const auto by_category = [](const Json& row) {
    return has(row, "score") ? row["score"].value("by_category", Json::object()) : Json::object();
  };
  std::vector<std::string> names = {score_name(rows)};
  std::vector<std::vector<std::string>> lines;
  for (const Json& row : rows) {
    names.push_back(label_of(row));
    const Json means = by_category(row);
    for (const auto& [category, mean] : means.items()) {
      const auto known = [&](const std::vector<std::string>& line) { return line.front() == category; };
      if (std::ranges::none_of(lines, known)) lines.push_back({category});
    }
  }
  for (std::vector<std::string>& line : lines) {
    for (const Json& row : rows) {
      const Json means = by_category(row);
      std::string text = means.contains(line.front()) ? number(means[line.front()].get<double>(), 3) : "";
      const Json printed =
          has(row, "paper") ? row["paper"].value("score_by_category", Json::object()) : Json::object();
      if (printed.contains(line.front()))
        text += fmt::format(" (paper {})",
                            row["paper"]["as_printed"]["score_by_category"][line.front()].get<std::string>());
      line.push_back(std::move(text));
    }
  }
  return lines.empty() ? "" : plot::aligned(names, lines);
}

}  // namespace spectr::bench
