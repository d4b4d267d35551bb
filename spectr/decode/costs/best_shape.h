#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "spectr/decode/costs/cost_model.h"
#include "spectr/decode/methods.h"
#include "spectr/sampling/warp.h"

namespace spectr {

/// Returns true if a method drafts from a model and the request leaves part of the shape open.
bool leaves_shape_open(const MethodRule& method, const MethodRequest& request);

/// Returns the settings of a request, with `costs` scaled to its load. An open K, L or trunk maximises the
/// expected tokens per second by these costs and their learned positions, in blocks of at most `max_nodes`
/// nodes if one fits; without costs K and L are 4 and the trunk is 0. An open L of suffix drafts is
/// SuffixDrafter::open_length. `vocabulary` is the target's.
MethodOptions settings_by_costs(const MethodRule& method, const MethodRequest& request,
                                std::shared_ptr<const Costs> costs, const Warp& warp, std::size_t vocabulary,
                                std::optional<std::size_t> max_nodes = {});

}  // namespace spectr
