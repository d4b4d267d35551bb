#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/result.h"
#include "spectr/decode/cost_curve.h"
#include "spectr/model/language_model.h"

namespace spectr {

struct PassCosts {
  Costs costs;  ///< all but those of attention and of what is done between passes, which are zero
  /// How many times longer the passes in the middle took than those that count, at the usual width. More than
  /// a little: something else kept the machine busy.
  double spread;
};

/// Measures what passes of a target and its draft models cost: passes of the given widths behind a text of
/// `depth` tokens, short ones after passes like them, and short passes of a draft model and the target one
/// after the other. Several rounds over all models and widths, so that what disturbs the machine for some
/// seconds meets all alike; lower quartiles count, because other programs only ever take away. At most some
/// ten seconds, or one round where that takes longer. Requires: widths ascending, ≥ 1, and at most as
/// large as every vocabulary; depth ≥ 1 and less than every context.
Result<PassCosts> measure_passes(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                                 std::span<const std::size_t> widths, std::size_t depth);

}  // namespace spectr
