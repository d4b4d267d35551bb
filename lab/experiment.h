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

// Tables and figures use the types of the plot library.
using plot::Axis;
using plot::Cell;
using plot::DataTable;
using plot::Figure;
using plot::Panel;
using plot::Point;
using plot::Series;
using plot::Style;

/// The inputs of experiments with real models.
struct StoryInputs {
  std::filesystem::path target, draft;
  std::vector<std::string> prompts;                  ///< beginnings of stories, not empty
  std::vector<std::string> references = {};          ///< continuation of each story, or empty if unknown
  std::optional<std::filesystem::path> scorer = {};  ///< a model that judges texts in addition to the target
  /// Similarity of a continuation to a reference; used as a judge if there are references.
  std::function<double(std::string_view text, std::string_view reference)> similarity = {};
};

/// The parameters of a run of an experiment.
struct Context {
  int threads = 1;  ///< of the models
  std::uint32_t seed = 10;
  std::optional<std::size_t> runs =
      {};  ///< simulated runs or random pairs; nullopt: the experiment's default
  bool quick = false;
  std::size_t comparisons = 5;  ///< per prompt, for opt-vs-uno
  StoryInputs stories = {};
  /// Called with the completed amount of work.
  std::function<void(std::size_t done, std::size_t total)> progress = [](std::size_t, std::size_t) {};

  std::size_t runs_or(std::size_t thorough, std::size_t hasty) const {
    return runs.value_or(quick ? hasty : thorough);
  }
};

/// A line of the printed summary: our value and the paper's.
struct Line {
  std::string what;
  std::string ours;
  std::string paper = "-";  ///< "-": the paper has no number for this
};

struct Report {
  DataTable data;
  Figure figure;
  std::vector<Line> summary;
};

/// A row of the table of experiments.
struct Experiment {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  ///< paper and number of the figure or table
  Result<Report> (*run)(const Context& context);
  bool reads_models = false;  ///< reads Context::stories
};

/// Returns all experiments, in the order of docs/reproduction.md.
std::span<const Experiment> experiments();

/// Returns the experiment with this name, or an error that lists the names.
Result<const Experiment*> find_experiment(std::string_view name);

/// Writes NAME.csv into the folder, then NAME.svg and NAME.png. The table is written even if the pictures
/// cannot be drawn.
Result<void> write(const Report& report, std::string_view name, const std::filesystem::path& folder);

/// Returns the summary as a table of aligned columns: what, here, paper.
std::string summary_table(std::span<const Line> lines);

}  // namespace spectr::lab
