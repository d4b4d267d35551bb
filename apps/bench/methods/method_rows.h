#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/bench/methods/measurement.h"
#include "apps/bench/methods/presets.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// The scorer of answers and the categories of their prompts.
struct Scoring {
  std::string_view name;                         ///< name of the scorer; empty: answers are not scored
  std::span<const std::string> categories = {};  ///< one per prompt; an empty string means no category
};

// Rows of `bench methods`. A row begins with a head, which says what was measured: `preset`, `column`, the
// settings of the cell, `dataset`, `models`. It ends with the paper's values.

/// Returns the row of a cell on one data set. Each repetition contributes its mean over prompts; the row has
/// mean and standard deviation (`sd`, null for one repetition) over repetitions:
///
///   block_efficiency  tokens per call of a prompt; `totals` is all tokens over all calls; `se` is the
///                     standard error over prompts, for a single repetition only
///   perplexity        over the prompts that plain decoding has also finished
///   speedup           mean time per token of plain decoding over that of the method, since means of times
///                     are more robust to other load on the machine than means of speeds
///   score             `name`, and the means per category in `by_category` if prompts have categories
///
/// Requires: at least one repetition.
Json row_of(Json head, std::span<const Measurement> repeats, const Json& paper, const Scoring& scoring);

/// Ranks the answers to each prompt: among a prompt's `repeats` answers, takes the one whose perplexity has
/// the given rank. Returns mean perplexity and score over prompts. Requires: rank.place < repeats.size().
Json ranked_row(Json head, std::span<const Measurement> repeats, const Rank& rank, const Json& paper,
                const Scoring& scoring);

/// Returns the row of plain decoding for one data set, the baseline of its speed-ups.
Json reference_row(Json head, std::span<const Measurement> measurements);

/// Returns the row of a cell across data sets: mean and standard deviation of each value over data sets.
/// Settings and paper values are null if the rows differ in them. Requires: at least one row.
Json row_across(std::span<const Json> rows);

/// Sets `relative` of each row: its speed divided by that of method `to` with the same data set, draft model,
/// column and filters (and the same L if there are several). Uses speed-ups, since each was measured against
/// plain decoding at the same time. Null if there is no such row. `relative` of `paper` becomes the same
/// ratio of the printed values.
void set_relative(Json& rows, std::string_view to);

}  // namespace spectr::bench
