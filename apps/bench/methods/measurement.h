#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "apps/support/json.h"
#include "spectr/decode/draft.h"
#include "spectr/decode/drafter.h"

namespace spectr::bench {

/// Returns the number, or null if there is none.
Json or_null(const std::optional<double>& value);

/// Measurement of the answers to one prompt.
struct Take {
  double tokens;                      ///< number of generated tokens
  double calls;                       ///< passes of the target, without prefill
  double seconds;                     ///< time without prefill
  double negative_log_likelihood;     ///< of the answers under the target at temperature 1, unfiltered
  std::optional<double> joules = {};  ///< includes prefill
  std::optional<double> score = {};   ///< quality of the answers
  std::optional<double> sampled_joules = {};  ///< by MTAD's sum (sampled_joules)

  double block_efficiency() const { return tokens / calls; }
  double perplexity() const;
  double seconds_per_token() const { return seconds / tokens; }
};

/// One run of a cell over the prompts of a data set, paired with plain decoding of the same prompts.
struct Measurement {
  std::vector<Take> takes;  ///< one per prompt; at least one
  std::vector<Take> plain;  ///< takes of plain decoding; fewer than `takes` if its time was up
  DraftShape shape;         ///< largest K and L that were drafted
  double acceptance_rate = 0.0;
  std::vector<double> acceptance_per_position;
  std::optional<double> bias_tv;
  double prompt_seconds = 0.0, draft_seconds = 0.0, target_seconds = 0.0, select_seconds = 0.0,
         total_seconds = 0.0;
};

/// Serializes a measurement for storage.
Json to_json(const Measurement& measurement);
/// Parses a measurement. Requires: output of to_json().
Measurement measurement_of(const Json& json);

}  // namespace spectr::bench
