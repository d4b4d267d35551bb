#include "lab/presets/preset_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "apps/plot/data_table.h"
#include "lab/presets/claims.h"
#include "spectr/base/check.h"

namespace spectr::lab {
namespace {

using namespace bench;

Json or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json or_null(std::size_t number) {
  return number == 0 ? Json(nullptr) : Json(number);
}

Json cell_json(const Preset& preset, const PresetCell& cell, const Printed* printed) {
  Json json = {{"column", or_null(cell.column->name)}};
  json.update(to_json(cell.cell));
  json["scored_by"] = or_null(cell.column->score);
  json["paper"] = printed ? to_json(*printed, preset.source) : Json(nullptr);
  return json;
}

Json cells_json(const Preset& preset) {
  Json all = Json::array();
  for (const Column& column : preset.columns) {
    const auto cells = cells_of(column, column.settings, 1);
    SPECTR_CHECK(cells.has_value());  // a test expands every preset
    for (const PresetCell& cell : *cells) {
      if (preset.ranks.empty()) all.push_back(cell_json(preset, cell, cell.printed));
      for (std::size_t i = 0; i < preset.ranks.size(); ++i) {
        all.push_back(cell_json(preset, cell, &column.printed[i]));
        all.back()["rank"] = preset.ranks[i].name;
      }
    }
  }
  return all;
}

/// Returns the cells of a table of passes, for the target and the draft model.
Json passes_json(const Preset& preset) {
  const PassTable& table = *preset.passes;
  Json all = Json::array();
  const auto add = [&](const char* model, const std::vector<PrintedPass>& printed) {
    for (std::size_t i = 0; i < printed.size(); ++i) {
      all.push_back({{"model", model},
                     {"length", table.settings.lengths[i / table.settings.batches.size()]},
                     {"batch", table.settings.batches[i % table.settings.batches.size()]},
                     {"independent", table.settings.independent},
                     {"runs", table.settings.runs},
                     {"paper", to_json(printed[i], preset.source)}});
    }
  };
  add("target", table.target);
  add("draft", table.draft);
  return all;
}

Json to_json(const Preset& preset) {
  Json json = {{"preset", preset.name},
               {"source", preset.source},
               {"summary", preset.summary},
               {"models", preset.models},
               {"prompts", or_null(preset.prompts)},
               {"repeats", preset.repeats},
               {"seconds", preset.seconds ? Json(*preset.seconds) : Json(nullptr)},
               {"claims", claims_json(preset)},
               {"relative_to", or_null(preset.relative_to)},
               {"cells", cells_json(preset)}};
  for (const DataSet& set : preset.data_sets) {
    json["data_sets"].push_back(
        {{"name", set.name},
         {"what", set.what},
         {"paper_mean_tokens", set.mean_tokens ? Json(set.mean_tokens->value) : Json()}});
  }
  if (preset.passes) json["passes"] = passes_json(preset);
  return json;
}

std::string text_of_value(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : fmt::format("{}", value.dump());
}

std::string text_of_number(double number) {
  return fmt::format("{}", number);
}

constexpr const char* measures[] = {"block_efficiency", "tokens_per_second", "joules_per_token",
                                    "perplexity",       "speedup",           "score"};

/// Returns a table with one line per cell: the distinguishing settings and the paper's values. Empty columns
/// are left out.
std::string cells_text(const Json& cells) {
  std::vector<std::string> names = {"method", "column", "rank",     "plan",     "K", "L",     "beams",
                                    "mode",   "tau",    "fallback", "rollback", "T", "top-k", "top-p"};
  for (const char* measure : measures) names.push_back(fmt::format("paper: {}", measure));
  std::vector<std::vector<std::string>> lines;
  for (const Json& cell : cells) {
    std::vector<std::string> line;
    for (const char* name : {"method", "column", "rank", "plan", "drafts", "length", "beams", "beam_mode",
                             "tau", "bild_fallback", "bild_rollback"}) {
      line.push_back(cell.contains(name) ? text_of_value(cell[name]) : "");
    }
    const Json& warp = cell["warp"];
    line.push_back(text_of_number(warp["temperature"].get<double>()));
    line.push_back(warp["top_k"] == 0 ? "" : warp["top_k"].dump());
    line.push_back(warp["top_p"] == 1.0 ? "" : text_of_number(warp["top_p"].get<double>()));
    for (const char* measure : measures)
      line.push_back(cell["paper"].is_null() ? "" : cell["paper"]["as_printed"].value(measure, ""));
    lines.push_back(std::move(line));
  }
  for (std::size_t i = names.size(); i-- > 0;) {
    const auto empty = [&](const std::vector<std::string>& line) { return line[i].empty(); };
    if (!std::ranges::all_of(lines, empty)) continue;
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(i));
    for (auto& line : lines) line.erase(line.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return plot::aligned(names, lines);
}

}  // namespace

Json to_json(std::span<const Preset> presets) {
  Json all = Json::array();
  for (const Preset& preset : presets) all.push_back(to_json(preset));
  return all;
}

std::string list_of(std::span<const Preset> presets) {
  std::string text;
  for (const Preset& preset : presets) {
    text +=
        fmt::format("{}{}: {}. {}\n", text.empty() ? "" : "\n", preset.name, preset.source, preset.summary);
    text += fmt::format("  its numbers: {}\n", preset.models);
    if (preset.seconds) text += fmt::format("  {} seconds for each method and data set\n", *preset.seconds);
    const Json cells = cells_json(preset);
    if (!cells.empty()) text += cells_text(cells);
    const Json claims = claims_json(preset);
    if (!claims.empty()) text += claims_table(claims);
    for (const DataSet& set : preset.data_sets) {
      text += fmt::format("{}: {}", set.name, set.what);
      if (set.mean_tokens) text += fmt::format(", {} tokens in the mean", set.mean_tokens->text());
      text += "\n";
    }
    if (preset.passes) {
      const BatchSettings& passes = preset.passes->settings;
      text += fmt::format("bench widths: lengths {}, batches {}, {} runs{}\n",
                          fmt::join(passes.lengths, ", "), fmt::join(passes.batches, ", "), passes.runs,
                          passes.independent ? ", independent texts" : "");
    }
  }
  return text;
}

}  // namespace spectr::lab
