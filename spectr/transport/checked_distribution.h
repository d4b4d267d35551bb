#pragma once

#include <string_view>

#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// Maximum error of the sum of a caller's probabilities, which are then normalised.
inline constexpr double double_tolerance = 1e-6, float_tolerance = 1e-4;

/// Returns a caller's probabilities as a distribution, normalised. Fails if a number is not finite or is
/// negative, or if their sum differs from 1 by more than the tolerance of their type. `name` names them in
/// messages. Cost: O(V).
Result<Distribution> checked_distribution(const LogitValues& probabilities, std::string_view name);

}  // namespace spectr
