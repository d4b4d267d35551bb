#include "apps/bench/methods/method_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/methods/method_report.h"
#include "apps/bench/methods/method_rows.h"
#include "apps/plot/data_table.h"

namespace spectr::bench {
namespace {

/// Returns the head of a row.
Json head_of(const Preset* preset, const Setup& setup, const Part& part, const PresetCell& one) {
  const auto named = [](std::string_view name) { return name.empty() ? Json(nullptr) : Json(name); };
  const Gguf* draft = draft_file_of(setup, one.cell);
  Json head = {{"preset", preset == nullptr ? Json(nullptr) : Json(preset->name)},
               {"column", named(one.column->name)}};
  head.update(to_json(one.cell));
  if (one.cell.method->reads(Setting::costs))
    head["costs_hash"] = fmt::format("{:016x}", one.cell.options.costs->hash());
  head["dataset"] = part.name;
  head["models"] = {{"target", setup.models.target->file().name()},
                    {"draft", draft == nullptr ? Json(nullptr) : Json(draft->name())}};
  return head;
}

/// Returns the rows of a data set: one per cell, or one per rank.
Json rows_of(const Preset* preset, const Setup& setup, const Part& part) {
  const auto paper = [&](const Printed* printed) {
    return printed == nullptr ? Json(nullptr) : to_json(*printed, preset->source);
  };
  std::vector<std::string> categories;
  for (const TokenPrompt& prompt : part.prompts) categories.push_back(prompt.prompt.category);
  const Scoring scoring{part.scorer.name, categories};
  Json rows = Json::array();
  for (std::size_t i = 0; i < part.cells.size(); ++i) {
    const PresetCell& one = part.cells[i];
    const Json head = head_of(preset, setup, part, one);
    if (preset == nullptr || preset->ranks.empty()) {
      rows.push_back(row_of(head, part.measured[i], paper(one.printed), scoring));
      continue;
    }
    for (std::size_t r = 0; r < preset->ranks.size(); ++r) {
      rows.push_back(
          ranked_row(head, part.measured[i], preset->ranks[r], paper(&one.column->printed[r]), scoring));
    }
  }
  return rows;
}

/// Returns the reference row of plain decoding, which ran alternately with the cells of a data set.
Json reference_of(const Setup& setup, const Part& part) {
  std::vector<Measurement> all;
  for (const auto& repeats : part.measured) all.insert(all.end(), repeats.begin(), repeats.end());
  return reference_row({{"dataset", part.name}, {"target", setup.models.target->file().name()}}, all);
}

/// Returns one row per cell with the mean over data sets. All data sets have the same number of rows.
Json rows_across(const std::vector<Json>& rows_by_part) {
  Json all = Json::array();
  for (std::size_t i = 0; i < rows_by_part.front().size(); ++i) {
    std::vector<Json> rows;
    for (const Json& part : rows_by_part) rows.push_back(part[i]);
    all.push_back(row_across(rows));
  }
  return all;
}

/// Formats a line such as "stories: 20 prompts, 21.3 tokens in the mean (first turns)".
std::string prompts_line(const Json& set) {
  return fmt::format("{}: {} prompts, {:.1f} tokens in the mean (first turns)",
                     set["name"].get<std::string>(), set["prompts"].get<std::size_t>(),
                     set["mean_tokens"].get<double>());
}

}  // namespace

Results results_of(const Preset* preset, const Setup& setup, std::span<const Part> parts,
                   std::string_view relative_to) {
  Results results{Json::array(), Json::array(), Json::array()};
  std::vector<Json> by_part;
  for (const Part& part : parts) {
    by_part.push_back(rows_of(preset, setup, part));
    set_relative(by_part.back(), relative_to);
    results.references.push_back(reference_of(setup, part));
    results.rows.insert(results.rows.end(), by_part.back().begin(), by_part.back().end());
  }
  if (parts.size() > 1 && (preset == nullptr || preset->ranks.empty())) {
    results.across = rows_across(by_part);
    set_relative(results.across, relative_to);
  }
  return results;
}

std::string results_text(const Json& sets, const Results& results) {
  std::string text;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Json rows = Json::array();
    for (const Json& row : results.rows) {
      if (row["dataset"] == sets[i]["name"]) rows.push_back(row);
    }
    text += fmt::format("\n{}; plain decoding {:.0f} tokens/s\n{}", prompts_line(sets[i]),
                        results.references[i]["tokens_per_second"].get<double>(), methods_table(rows));
    if (const std::string categories = categories_table(rows); !categories.empty()) text += "\n" + categories;
  }
  if (!results.across.empty()) {
    text += fmt::format("\nall {} data sets: means ± standard deviations over them\n{}", sets.size(),
                        methods_table(results.across));
  }
  return text;
}

Json data_sets_json(const Preset* preset, std::span<const Part> parts) {
  Json all = Json::array();
  for (const Part& part : parts) {
    all.push_back({{"name", part.name},
                   {"file", part.file},
                   {"prompts", part.prompts.size()},
                   {"mean_tokens", part.mean_tokens()}});
    if (preset == nullptr || preset->data_sets.empty()) continue;
    const auto set = std::ranges::find(preset->data_sets, part.name, &DataSet::name);
    const bool printed = set != preset->data_sets.end() && set->mean_tokens;
    all.back()["paper"] = printed ? Json{{"source", preset->source},
                                         {"mean_tokens", set->mean_tokens->value},
                                         {"as_printed", {{"mean_tokens", set->mean_tokens->text()}}}}
                                  : Json();
  }
  return all;
}

std::string lengths_table(const Json& sets) {
  std::vector<std::vector<std::string>> lines;
  for (const Json& set : sets) {
    lines.push_back(
        {set["name"].get<std::string>(), set["prompts"].dump(),
         fmt::format("{:.1f}", set["mean_tokens"].get<double>()),
         set["paper"].is_null() ? "" : set["paper"]["as_printed"]["mean_tokens"].get<std::string>()});
  }
  return plot::aligned({"data set", "prompts", "mean tokens", "paper"}, lines);
}

std::string preset_lines(const Preset* preset) {
  if (preset == nullptr) return "";
  return fmt::format("{}: {}\npaper: printed values of {}, not measured here ({})\n", preset->name,
                     preset->summary, preset->source, preset->models);
}

}  // namespace spectr::bench
