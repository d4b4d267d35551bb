#pragma once

#include <span>
#include <string_view>

#include "apps/bench/methods/presets.h"
#include "spectr/base/result.h"

namespace spectr::lab {

/// Returns the settings and printed values of the papers' tables and figures, by paper and number.
std::span<const bench::Preset> presets();

/// Returns the preset with this name. Fails with the list of names if there is none.
Result<const bench::Preset*> find_preset(std::string_view name);

}  // namespace spectr::lab
