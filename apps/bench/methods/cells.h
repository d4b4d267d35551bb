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

/// A decoding configuration to be measured: a method with all settings that it reads.
struct Cell {
  const MethodRule* method;
  MethodOptions options;  ///< includes the plan if the method has one
  DraftShape shape;       ///< K and L of the decoder
  Warp warp;              ///< of the target and its draft model
  std::size_t draft = 0;  ///< index of the draft model
};

/// The values of each setting. A group of cells is their Cartesian product. An empty list means the value of
/// the settings that the group is expanded with.
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

/// Returns every distinct combination once: values of a setting (or of `draft_models`) that a method does not
/// use are not repeated. Cells that differ only in the draft model are adjacent. Fails if a method or plan is
/// unknown, if no method of a group reads its plans, or if a combination is impossible.
Result<std::vector<Cell>> expand(std::span<const Axes> groups, const MethodOptions& settings,
                                 const WarpOptions& warp, std::size_t draft_models);

/// Returns the settings of a cell: `method`, `plan`, `drafts`, `length`, `beams`, `beam_mode`, `tau`,
/// `bild_fallback`, `bild_rollback`, and `warp` with `temperature`, `top_k`, `top_p`. Settings that the
/// method does not have are null.
Json to_json(const Cell& cell);

}  // namespace spectr::bench
