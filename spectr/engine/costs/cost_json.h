#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "spectr/decode/costs/cost_model.h"
#include "spectr/engine/costs/slim_trial.h"

namespace spectr {

/// An entry of a cost file, for a target and its draft models.
struct CostEntry {
  Costs costs;
  std::optional<double> disturbed = {};  ///< factor by which other work slowed the machine down
  std::optional<double> off = {};        ///< factor by which a run took longer than its costs
};

/// Returns the entry as a JSON object.
std::string json_of(const CostEntry& entry);

/// Returns the entry for `draft_models` draft models; none if the object is not such an entry.
std::optional<CostEntry> cost_entry(std::string_view json, std::size_t draft_models);

/// Returns the outcome of trials as a JSON object, for a target of that name.
std::string json_of(const SlimTrials& trials, std::string_view target);

/// Returns the options that trials have chosen; none if the object has another format.
std::optional<SlimOptions> chosen_slimming(std::string_view json);

}  // namespace spectr
