#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/result.h"
#include "spectr/decode/costs.h"
#include "spectr/model/language_model.h"

namespace spectr {

/// Costs as they were measured, and how quiet the machine was meanwhile.
struct MeasuredCosts {
  /// On a machine that does nothing else passes differ by less.
  static constexpr double usual_spread = 1.3;

  Costs costs;
  /// How many times longer passes took than they can: those in the middle than those that count, at the usual
  /// width; or those of one width than passes of other widths allow.
  double spread;

  /// Whether something else kept the machine busy: the costs may be wrong then.
  bool disturbed() const { return spread > usual_spread; }
};

/// Measures what passes of a target and its draft models cost: passes of the given widths behind a text of
/// `depth` tokens, short ones after passes like them, short passes of a draft model and the target one after
/// the other, and what a draft model takes to read that text. Several rounds over all models and widths, so
/// that what disturbs the machine for some seconds meets all alike; lower quartiles count, because other
/// programs only ever take away. At most some ten seconds, or one round where that takes longer. What
/// attention takes for longer texts, and what is done between passes, stays zero: measure_costs adds it.
/// Requires: widths ascending, ≥ 1, and at most as large as every vocabulary; depth ≥ 1 and less than every
/// context.
Result<MeasuredCosts> measure_passes(const LanguageModel& target,
                                     std::span<const LanguageModel* const> drafts,
                                     std::span<const std::size_t> widths, std::size_t depth);

}  // namespace spectr
