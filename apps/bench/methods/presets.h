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

/// A part of a table whose cells share their settings: those for a pair of models and a data set.
struct Column {
  std::string_view name = {};  ///< empty: the only one
  WarpOptions warp;
  MethodOptions settings = {};        ///< where `axes` are empty
  std::vector<Axes> axes = {};        ///< for `bench methods`
  std::vector<Printed> printed = {};  ///< of the cells in the order of expand(); empty: the paper prints none
  std::string_view score = {};        ///< what the paper judges answers by; empty: nothing
};

/// A data set of a paper: what it is, and the mean length of its prompts in the tokens of the paper's models.
struct DataSet {
  std::string_view name;
  std::string_view what;
  std::optional<PrintedNumber> mean_tokens = {};
};

/// A place among `ranked_answers` answers to one prompt, by their perplexity.
struct Rank {
  std::string_view name;
  std::size_t place;  ///< 0: the lowest perplexity
};
inline constexpr std::size_t ranked_answers = 10;

/// A table of passes, for `bench widths`: settings, and what the paper prints of its models for every length
/// and, inside, batch; empty: nothing.
struct PassTable {
  BatchSettings settings;
  std::vector<PrintedPass> target = {};
  std::vector<PrintedPass> draft = {};
};

/// A ratio that a paper's text claims in the mean over the columns of a table.
struct ClaimedRatio {
  enum class Of { speed, energy } of;
  std::string_view method, to;
  PrintedNumber printed;
};

/// The settings of a paper's table or figure, to be run on any pair of models.
struct Preset {
  std::string_view name;
  std::string_view source;             ///< paper and number
  std::string_view summary;            ///< what it compares
  std::string_view models;             ///< and data that the paper's numbers belong to
  std::size_t prompts = 0;             ///< of the paper; 0: not printed
  std::size_t repeats = 1;             ///< of the paper
  std::optional<double> seconds = {};  ///< of a method's answers in the paper; none: not printed
  std::vector<Column> columns = {};
  std::vector<ClaimedRatio> claims = {};  ///< of the abstract and the text
  std::string_view relative_to = {};      ///< the method that the paper's ratios are to
  std::size_t usual_column = 0;           ///< which is run where none is chosen
  bool all_columns = false;               ///< all are, instead
  bool column_per_draft = false;          ///< columns differ in the draft model alone, from small to large
  std::vector<Rank> ranks = {};           ///< of answers to one prompt, instead of cells
  std::vector<DataSet> data_sets = {};    ///< whose prompts are measured and nothing else
  std::optional<PassTable> passes = {};   ///< for `bench widths` instead
};

/// A cell of a preset with the column that it is of and what the paper prints of it.
struct PresetCell {
  Cell cell;
  const Column* column;
  const Printed* printed;  ///< null: nothing
};

/// The cells of a column, for every draft model. `settings` are the column's, or those with costs.
Result<std::vector<PresetCell>> cells_of(const Column& column, const MethodOptions& settings,
                                         std::size_t draft_models);

}  // namespace spectr::bench
