#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "apps/bench/cells.h"
#include "spectr/sampling/warp.h"

namespace spectr::bench {

/// The settings of a paper's table or figure, to be run on any pair of models.
struct Preset {
  std::string_view name;
  std::string_view summary;
  WarpOptions warp;
  MethodOptions settings;                ///< where `axes` are empty
  std::vector<Axes> axes;                ///< for `bench methods`
  std::vector<std::size_t> widths = {};  ///< for `bench widths` instead
};

/// Every preset, by paper and number.
std::span<const Preset> presets();

/// The preset of that name, or an error that lists the names.
Result<const Preset*> find_preset(std::string_view name);

}  // namespace spectr::bench
