#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "spectr/decode/auto/cost_model.h"
#include "spectr/decode/methods.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// Whether a method drafts from a model in a shape of which a request leaves a part open.
bool leaves_shape_open(const MethodRule& method, const MethodRequest& request);

/// Returns the settings of a request, with the share of `costs` that its load leaves it. An open K, L or
/// trunk becomes the one that promises the most tokens per second by these costs and by what they know of the
/// pair's acceptance, in blocks of at most `max_nodes` nodes where one fits; without costs K and L are 4, the
/// trunk is 0. An open L of suffix drafts is SuffixDrafter::open_length. `vocabulary`: the target's.
MethodOptions settings_by_costs(const MethodRule& method, const MethodRequest& request,
                                std::shared_ptr<const Costs> costs, const Warp& warp, std::size_t vocabulary,
                                std::optional<std::size_t> max_nodes = {});

}  // namespace spectr
