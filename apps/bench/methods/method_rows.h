#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/bench/methods/measurement.h"
#include "apps/bench/methods/presets.h"
#include "apps/support/json.h"

namespace spectr::bench {

/// What answers were scored by, and what kinds of prompts they were to.
struct Scoring {
  std::string_view name;                         ///< of the scorer; empty: they were not scored
  std::span<const std::string> categories = {};  ///< by prompt; empty texts: none
};

// What `bench methods` tells of its measurements. A row begins with a head, which says what was measured:
// `preset`, `column`, the settings of the cell, `dataset`, `models`; the paper's values stand at its end.

/// The row of a cell on one data set: of every repetition the mean over prompts, then mean and standard
/// deviation (`sd`, null for one repetition) over repetitions:
///
///   block_efficiency  tokens per call of a prompt; `totals` is all tokens over all calls, `se` a standard
///                     error over prompts, of one repetition alone
///   perplexity        over the prompts that plain decoding has finished, too
///   speedup           the ratio of the mean times per token of plain decoding and of the method, because on
///                     a machine that others use, times add up and speeds do not
///   score             `name`, and `by_category` the means of each category where prompts have one
///
/// Requires: at least one repetition.
Json row_of(Json head, std::span<const Measurement> repeats, const Json& paper, const Scoring& scoring);

/// Answers to the same prompts by their rank: of every prompt's `repeats` answers the one whose perplexity
/// takes the rank's place; mean perplexity and score over prompts. Requires: more repeats than the place.
Json ranked_row(Json head, std::span<const Measurement> repeats, const Rank& rank, const Json& paper,
                const Scoring& scoring);

/// Plain decoding as it ran beside the cells of one data set, which speed-ups are relative to.
Json reference_row(Json head, std::span<const Measurement> measurements);

/// The same cell on several data sets: mean and standard deviation over data sets of what each row says.
/// Settings that differ are null, and so is the paper's value where its rows differ. Requires: at least one.
Json row_across(std::span<const Json> rows);

/// Sets `relative` of every row: its speed over that of the method `to` on the same data set, with the same
/// draft model, column and filters; of several that of the same L. Speeds are compared by their speed-ups,
/// each of which was measured against plain decoding at the same time. Null where there is none. The
/// same ratio of what the paper prints becomes `relative` of `paper`.
void set_relative(Json& rows, std::string_view to);

}  // namespace spectr::bench
