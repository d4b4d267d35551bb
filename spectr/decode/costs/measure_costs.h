#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "spectr/base/result.h"
#include "spectr/decode/costs/cost_model.h"
#include "spectr/lm/language_model.h"

namespace spectr {

/// Measured costs, and a measure of the machine's disturbance meanwhile.
struct MeasuredCosts {
  /// Maximum spread on an otherwise idle machine.
  static constexpr double usual_spread = 1.3;

  Costs costs;
  /// The slowdown of passes: the median time relative to the lower quartile, at the median width; or the
  /// deviation of one width from the times that the other widths allow.
  double spread;

  /// Returns true if something else kept the machine busy, so that the costs may be wrong.
  bool disturbed() const { return spread > usual_spread; }
};

/// A callback that receives the completed share of a measurement from time to time.
using MeasuringProgress = std::function<void(double share)>;

/// Measures the passes of a target and its draft models: passes of the given widths after a sequence of
/// `depth` tokens (short ones after similar passes), alternating short passes of a draft model and the
/// target, and a draft model's prefill of that sequence. It makes several rounds over all models and
/// widths, so that a disturbance of some seconds affects all of them equally, and takes lower quartiles,
/// because other programs only ever slow passes down. It takes about three seconds, or one round if that
/// takes longer. The attention cost of longer sequences and the costs between passes stay zero;
/// measure_costs() adds them. Requires: widths ascending, ≥ 1 and at most every vocabulary; 1 ≤ depth <
/// every context.
Result<MeasuredCosts> measure_passes(const LanguageModel& target,
                                     std::span<const LanguageModel* const> drafts,
                                     std::span<const std::size_t> widths, std::size_t depth,
                                     const MeasuringProgress& progress = {});

/// Measures all costs that method auto needs (MethodOptions::costs): passes of a target and its draft models
/// with up to AutoParams::max_rows rows, their attention, and distributions and plans for the target's
/// vocabulary. The costs apply to this machine, these models in this order and the number of threads of their
/// pools. Store them: they determine the completion, like the seed, and a new measurement differs. No other
/// passes may run meanwhile. It takes slightly longer than measure_passes(). Fails if a model's context is
/// below two tokens, if memory is insufficient, or if logits do not form a distribution.
Result<MeasuredCosts> measure_costs(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                                    const MeasuringProgress& progress = {});

}  // namespace spectr
