#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "spectr/base/result.h"
#include "spectr/decode/auto/cost_model.h"
#include "spectr/lm/language_model.h"

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

/// Is told which share of a measurement is done, now and then.
using MeasuringProgress = std::function<void(double share)>;

/// Measures what passes of a target and its draft models cost: passes of the given widths behind a sequence
/// of `depth` tokens, short ones after passes like them, short passes of a draft model and the target one
/// after the other, and what a draft model takes to read that sequence. There are several rounds over all
/// models and widths, so that what disturbs the machine for some seconds meets all alike; lower quartiles
/// count, because other programs only ever take away. It takes some three seconds, or one round where that
/// takes longer. What attention takes for longer sequences, and what is done between passes, stays zero:
/// measure_costs adds it. Requires: widths ascending, ≥ 1, and at most as large as every vocabulary; depth ≥
/// 1 and less than every context.
Result<MeasuredCosts> measure_passes(const LanguageModel& target,
                                     std::span<const LanguageModel* const> drafts,
                                     std::span<const std::size_t> widths, std::size_t depth,
                                     const MeasuringProgress& progress = {});

/// Measures all that method auto goes by (MethodOptions::costs): passes of a target and its draft models at
/// up to AutoParams::max_rows rows, their attention, and distributions and plans for the target's vocabulary.
/// The costs are good for this machine, these models in this order and the number of threads of their pools.
/// They are worth keeping: they fix the completion as the seed does, and measured anew they differ. Nothing
/// else may run passes meanwhile. It takes seconds, as long as measure_passes and a little more. Error: a
/// model has a context of less than two tokens, no memory for passes, or logits that make no distribution.
Result<MeasuredCosts> measure_costs(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                                    const MeasuringProgress& progress = {});

}  // namespace spectr
