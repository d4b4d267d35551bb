#pragma once

#include <span>
#include <string>

#include "apps/bench/methods/presets.h"
#include "apps/support/json.h"

namespace spectr::lab {

/// What `bench methods --list-presets --json` prints: a list of `preset`, `source`, `summary`, `models` (that
/// the paper's numbers belong to), `prompts` and `repeats` of the paper, `relative_to`, and `cells`: each
/// with `column`, its settings (to_json of a Cell), `scored_by` and `paper` (to_json of Printed); where
/// answers are ranked, with `rank`. `data_sets` or `passes` stand where there are no cells.
Json to_json(std::span<const bench::Preset> presets);

/// The same for people.
std::string list_of(std::span<const bench::Preset> presets);

}  // namespace spectr::lab
