#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/json.h"

namespace spectr::bench {

/// A figure as a paper prints it: a mean, and its standard deviation where that is printed, too.
struct PaperValue {
  double mean;
  std::optional<double> sd = {};
};

/// What a paper prints of a cell of a table. Never measured here.
struct Printed {
  std::optional<PaperValue> tokens_per_second = {};
  std::optional<PaperValue> joules_per_token = {};
  std::optional<PaperValue> perplexity = {};
  std::optional<PaperValue> block_efficiency = {};
  std::optional<PaperValue> speedup = {};
  std::optional<PaperValue> score = {};
  std::vector<std::pair<std::string_view, double>> score_by_category = {};
};

/// What a paper prints of passes over a batch of sequences.
struct PrintedPass {
  std::optional<PaperValue> relative = {};  ///< to the table's first cell, of the target
  std::optional<double> joules_per_run = {};
  std::optional<double> joules_per_input = {};
  std::optional<double> seconds_per_run = {};
  std::optional<double> seconds_per_input = {};
};

/// `{source, relative: {mean, sd}, joules_per_run, joules_per_input, seconds_per_run, seconds_per_input}`.
Json to_json(const PrintedPass& printed, std::string_view source);

/// `{source, tokens_per_second: {mean, sd}, …}`; null where the paper prints nothing, sd where it prints
/// none.
Json to_json(const Printed& printed, std::string_view source);

}  // namespace spectr::bench
