#pragma once

#include <span>
#include <string>

#include "apps/bench/methods/presets.h"
#include "apps/support/json.h"

namespace spectr::lab {

/// Returns the output of `bench methods --list-presets --json`: a list of `preset`, `source`, `summary`,
/// `models` (of the paper's numbers), `prompts` and `repeats` of the paper, `relative_to`, and `cells`. Each
/// cell has `column`, its settings (to_json of a Cell), `scored_by`, `paper` (to_json of Printed) and, if
/// answers are ranked, `rank`. Presets without cells have `data_sets` or `passes` instead.
Json to_json(std::span<const bench::Preset> presets);

/// Returns the same list as text.
std::string list_of(std::span<const bench::Preset> presets);

}  // namespace spectr::lab
