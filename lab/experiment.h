#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/plot/plot.h"
#include "spectr/base/result.h"

namespace spectr::lab {

// Tables and figures are those of the plot library.
using plot::Axis;
using plot::Cell;
using plot::DataTable;
using plot::Figure;
using plot::Panel;
using plot::Point;
using plot::Series;
using plot::Style;

/// What the experiments with real models read.
struct StoryInputs {
  std::filesystem::path target, draft;
  std::vector<std::string> prompts;                  ///< beginnings of stories, none of them empty
  std::vector<std::string> references = {};          ///< how each goes on, or nothing where that is not known
  std::optional<std::filesystem::path> scorer = {};  ///< a model that judges the texts besides the target
  /// How like a reference a continuation is; judges where there are references.
  std::function<double(std::string_view text, std::string_view reference)> similarity = {};
};

/// What an experiment is run with.
struct Context {
  int threads = 1;  ///< of the models
  std::uint32_t seed = 10;
  std::optional<std::size_t> runs =
      {};  ///< simulated runs or random pairs; none: the experiment's own number
  bool quick = false;
  std::size_t comparisons = 5;  ///< per prompt, of opt-vs-uno
  StoryInputs stories = {};
  /// Told how much of the work is done.
  std::function<void(std::size_t done, std::size_t total)> progress = [](std::size_t, std::size_t) {};

  std::size_t runs_or(std::size_t thorough, std::size_t hasty) const {
    return runs.value_or(quick ? hasty : thorough);
  }
};

/// A line of the printed summary: our value beside the paper's.
struct Line {
  std::string what;
  std::string ours;
  std::string paper = "-";  ///< "-": the paper prints no number for this
};

struct Report {
  DataTable data;
  Figure figure;
  std::vector<Line> summary;
};

/// One row of the table of experiments.
struct Experiment {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper and number of the figure or table
  Result<Report> (*run)(const Context& context);
  bool reads_models = false;  ///< reads Context::stories
};

/// Every experiment, in the order of docs/reproduction.md.
std::span<const Experiment> experiments();

/// The experiment of that name, or an error that lists the names.
Result<const Experiment*> find_experiment(std::string_view name);

/// Writes NAME.csv into the folder, then NAME.svg and NAME.png. The table is there even where the pictures
/// cannot be drawn.
Result<void> write(const Report& report, std::string_view name, const std::filesystem::path& folder);

/// The summary as a table of aligned columns: what, here, paper.
std::string summary_table(std::span<const Line> lines);

}  // namespace spectr::lab
