#pragma once

#include <cstddef>
#include <functional>
#include <memory>
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

/// Starts a session of a trained drafter that follows a session of the target, for trees of up to `nodes`
/// nodes. Fails if there is no memory.
using FollowTarget = std::function<Result<std::unique_ptr<Session>>(Session& target, std::size_t nodes)>;

/// Measures the passes of a target and its draft models: passes of the given widths after a sequence of
/// `depth` tokens (short ones after similar passes), alternating short passes of a draft model and the
/// target, and a draft model's prefill of that sequence. It makes several rounds over all models and
/// widths, so that a disturbance of some seconds affects all of them equally, and takes lower quartiles,
/// because other programs only ever slow passes down. It takes about three seconds, or one round if that
/// takes longer. The attention cost of longer sequences and the costs between passes stay zero;
/// measure_costs() adds them. Trained drafters follow the draft models in the results: of these it measures
/// the first pass of a block, later passes over a level, and reading states that are there. Requires: widths
/// ascending, ≥ 1 and at most every vocabulary, with trained drafters below the target's; 1 ≤ depth < every
/// context.
Result<MeasuredCosts> measure_passes(const LanguageModel& target,
                                     std::span<const LanguageModel* const> drafts,
                                     std::span<const std::size_t> widths, std::size_t depth,
                                     const MeasuringProgress& progress = {},
                                     std::span<const FollowTarget> drafters = {});

/// Measures all costs that method auto needs (MethodOptions::costs): passes of a target and its draft models
/// with up to AutoParams::max_rows rows (with trained drafters max_block_rows), their attention, and
/// distributions and plans for the target's vocabulary. The costs apply to this machine, these models in this
/// order and the number of threads of their pools. Store them: they determine the completion, like the seed,
/// and a new measurement differs. No other passes may run meanwhile. It takes slightly longer than
/// measure_passes(). Fails if a model's context is below two tokens, if memory is insufficient, or if logits
/// do not form a distribution.
Result<MeasuredCosts> measure_costs(const LanguageModel& target, std::span<const LanguageModel* const> drafts,
                                    const MeasuringProgress& progress = {},
                                    std::span<const FollowTarget> drafters = {});

}  // namespace spectr
