#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/bench/methods/cells.h"
#include "apps/bench/methods/printed.h"
#include "apps/bench/passes/batch_curve.h"

namespace spectr::bench {

/// A group of a table's cells with common settings: those of one model pair and data set.
struct Column {
  std::string_view name = {};  ///< empty: the preset's only column
  WarpOptions warp;
  MethodOptions settings = {};        ///< used by axes that are empty
  std::vector<Axes> axes = {};        ///< axes of `bench methods`
  std::vector<Printed> printed = {};  ///< by cell, in the order of expand(); empty: not printed
  std::string_view score = {};        ///< metric of the paper for answers; empty: none
};

/// A data set of a paper: a description, and the mean prompt length in tokens of the paper's models.
struct DataSet {
  std::string_view name;
  std::string_view what;
  std::optional<PrintedNumber> mean_tokens = {};
};

/// A rank among `ranked_answers` answers to one prompt, ordered by perplexity.
struct Rank {
  std::string_view name;
  std::size_t place;  ///< 0-based; 0 is the lowest perplexity
};
inline constexpr std::size_t ranked_answers = 10;

/// A table of passes for `bench widths`: settings, and the printed values of its models, indexed by length
/// and batch; empty if nothing is printed.
struct PassTable {
  BatchSettings settings;
  std::vector<PrintedPass> target = {};
  std::vector<PrintedPass> draft = {};
};

/// A ratio that a paper claims for the mean over the columns of a table.
struct ClaimedRatio {
  enum class Of { speed, energy } of;
  std::string_view method, to;
  PrintedNumber printed;
};

/// The settings of a paper's table or figure, applicable to any pair of models.
struct Preset {
  std::string_view name;
  std::string_view source;             ///< paper and number of the table or figure
  std::string_view summary;            ///< what is compared
  std::string_view models;             ///< models and data of the paper's numbers
  std::size_t prompts = 0;             ///< number of prompts in the paper; 0: not printed
  std::size_t repeats = 1;             ///< number of repetitions in the paper
  std::optional<double> seconds = {};  ///< time budget per method in the paper; none: not printed
  std::vector<Column> columns = {};
  std::vector<ClaimedRatio> claims = {};  ///< claims of the abstract and the text
  std::string_view relative_to = {};      ///< baseline method of the paper's ratios
  std::size_t usual_column = 0;           ///< index of the default column
  bool all_columns = false;               ///< run all columns by default
  bool column_per_draft = false;          ///< columns differ only in the draft model, in ascending size
  std::vector<Rank> ranks = {};           ///< report ranked answers instead of cells
  std::vector<DataSet> data_sets = {};    ///< only the prompts are measured
  std::optional<PassTable> passes = {};   ///< a table of `bench widths` instead
};

/// A cell of a preset with its column and the paper's values for it.
struct PresetCell {
  Cell cell;
  const Column* column;
  const Printed* printed;  ///< null: not printed
};

/// Returns the cells of a column for every draft model. `settings` are the column's, or these with costs.
Result<std::vector<PresetCell>> cells_of(const Column& column, const MethodOptions& settings,
                                         std::size_t draft_models);

}  // namespace spectr::bench
