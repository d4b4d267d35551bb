#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "spectr/decode/auto/cost_model.h"
#include "spectr/engine/costs/slim_trial.h"

namespace spectr {

/// An entry of a cost file about a target and its draft models.
struct CostEntry {
  Costs costs;
  std::optional<double> disturbed = {};  ///< the machine was so many times slower than it can be
  std::optional<double> off = {};        ///< a run took so many times as long as the costs say
};

/// Returns the entry as a JSON object.
std::string json_of(const CostEntry& entry);

/// Returns the entry about `draft_models` draft models; none if the object is not one.
std::optional<CostEntry> cost_entry(std::string_view json, std::size_t draft_models);

/// Returns the outcome of trials for a target of that name as a JSON object.
std::string json_of(const SlimTrials& trials, std::string_view target);

/// Returns what trials have chosen; none if the object is not of their form.
std::optional<SlimOptions> chosen_slimming(std::string_view json);

}  // namespace spectr
