#pragma once

#include <cstddef>
#include <memory>

#include "spectr/decode/auto/cost_model.h"
#include "spectr/decode/methods.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// Whether a method drafts from a model in a shape of which a request leaves a part open.
bool leaves_shape_open(const MethodRule& method, const MethodRequest& request);

/// The settings of a request, with these costs, as far as its load leaves them. K and L that it leaves open
/// are those that promise the most tokens per second by costs, where these are known, and by what they know
/// of the pair's acceptance; else 4. `vocabulary`: the target's.
MethodOptions settings_by_costs(const MethodRule& method, const MethodRequest& request,
                                std::shared_ptr<const Costs> costs, const Warp& warp, std::size_t vocabulary);

}  // namespace spectr
