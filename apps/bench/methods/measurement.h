#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "apps/support/json.h"
#include "spectr/decode/draft.h"
#include "spectr/decode/drafter.h"

namespace spectr::bench {

/// The number; null: there is none.
Json or_null(const std::optional<double>& value);

/// What is kept of the answers to one prompt.
struct Take {
  double tokens;                      ///< that were generated
  double calls;                       ///< passes of the target, without the prompt's
  double seconds;                     ///< after the prompt
  double negative_log_likelihood;     ///< of the tokens under the target, at temperature 1 and unfiltered
  std::optional<double> joules = {};  ///< with the reading of the prompt
  std::optional<double> score = {};   ///< how good the answers are
  std::optional<double> sampled_joules = {};  ///< by MTAD's sum (energy_meter.h)

  double block_efficiency() const { return tokens / calls; }
  double perplexity() const;
  double seconds_per_token() const { return seconds / tokens; }
};

/// A cell that was run once over the prompts of a data set, beside plain decoding of the same prompts.
struct Measurement {
  std::vector<Take> takes;  ///< by prompt; at least one
  std::vector<Take> plain;  ///< of plain decoding: of as many prompts, or fewer where time was up
  DraftShape shape;         ///< the largest K and L that were drafted
  double acceptance_rate = 0.0;
  std::vector<double> acceptance_per_position;
  std::optional<double> bias_tv;
  double prompt_seconds = 0.0, draft_seconds = 0.0, target_seconds = 0.0, select_seconds = 0.0,
         total_seconds = 0.0;
};

/// How measurements are kept on disk.
Json to_json(const Measurement& measurement);
/// Requires: what to_json() gave.
Measurement measurement_of(const Json& json);

}  // namespace spectr::bench
