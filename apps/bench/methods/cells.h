#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/result.h"
#include "spectr/decode/methods.h"
#include "spectr/sampling/warp.h"

namespace spectr::bench {

/// A way of decoding that is measured: a method with everything that it reads of its settings.
struct Cell {
  const MethodRule* method;
  MethodOptions options;  ///< with a plan where the method has one
  DraftShape shape;       ///< K and L as the decoder has them
  Warp warp;              ///< of the target and of its draft model
  std::size_t draft = 0;  ///< which of the draft models
};

/// The values that settings take; a group of cells is every combination. An empty list stands for the value
/// of the settings that the group is expanded with.
struct Axes {
  std::vector<std::string> methods;
  std::vector<std::string> plans = {};
  std::vector<std::size_t> drafts = {};   ///< K
  std::vector<std::size_t> lengths = {};  ///< L
  std::vector<std::size_t> beams = {};
  std::vector<BeamMode> beam_modes = {};
  std::vector<double> taus = {};
  std::vector<double> bild_fallbacks = {};
  std::vector<double> bild_rollbacks = {};
  std::vector<WarpOptions> warps = {};
};

/// Every combination once: a method that does not read a setting is not repeated for its values, nor for
/// `draft_models` where it uses none; those of one combination follow one another. Error: an unknown method
/// or plan, plans that no method of a group reads, or a combination that is impossible.
Result<std::vector<Cell>> expand(std::span<const Axes> groups, const MethodOptions& settings,
                                 const WarpOptions& warp, std::size_t draft_models);

/// The settings of a cell: `method`, `plan`, `drafts`, `length`, `beams`, `beam_mode`, `tau`,
/// `bild_fallback`, `bild_rollback`, and `warp` with `temperature`, `top_k`, `top_p`. Null stands for what a
/// method has not.
Json to_json(const Cell& cell);

}  // namespace spectr::bench
