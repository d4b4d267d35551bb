#pragma once

#include <span>

#include "spectr/base/result.h"
#include "spectr/decode/measure_passes.h"
#include "spectr/model/transformer.h"

namespace spectr {

/// Measures all that method auto goes by (MethodOptions::costs): passes of a target and its draft models at
/// up to AutoDrafter::most_rows rows, their attention, and laws and plans for the target's vocabulary.
/// The costs are good for this machine, these models in this order and the number of threads of their pools.
/// They are worth keeping: they fix the text as the seed does, and measured anew they differ. Nothing else
/// may run passes meanwhile. Takes seconds, as long as measure_passes and a little more. Error: a model has a
/// context of less than two tokens, no memory for passes, or logits that make no law.
Result<MeasuredCosts> measure_costs(const Transformer& target, std::span<const Transformer* const> drafts);

}  // namespace spectr
