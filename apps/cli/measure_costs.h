#pragma once

#include <span>

#include "spectr/decode/cost_curve.h"
#include "spectr/model/transformer.h"

namespace spectr::cli {

/// What passes, laws and plans cost, the target's model first. Takes seconds, and says so where the machine
/// was busy meanwhile. Throws Failure.
Costs measure_costs(std::span<const Transformer* const> models);

}  // namespace spectr::cli
