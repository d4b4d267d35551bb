#pragma once

#include <vector>

#include "spectr/transport/plan.h"

namespace spectr {

/// The exact law of Y: every draft tuple of the plan's draw() through its select(), over all choices,
/// weighted by their exact probabilities. Indexed by token. This is the law that is sampled, by the code that
/// samples it. Cost: one run of draw() and select() per outcome.
std::vector<double> enumerate_law(const TransportPlan& plan, std::size_t vocabulary);

}  // namespace spectr
