#include "apps/bench/methods/presets.h"

namespace spectr::bench {

Result<std::vector<PresetCell>> cells_of(const Column& column, const MethodOptions& settings,
                                         std::size_t draft_models) {
  SPECTR_TRY(const std::vector<Cell> cells, expand(column.axes, settings, column.warp, draft_models));
  std::vector<PresetCell> all;
  std::size_t combinations = 0;  // combinations so far; a cell of the first draft model begins one
  for (const Cell& cell : cells) {
    if (cell.draft == 0) ++combinations;
    const bool known = combinations <= column.printed.size();
    all.push_back({cell, &column, known ? &column.printed[combinations - 1] : nullptr});
  }
  return all;
}

}  // namespace spectr::bench
