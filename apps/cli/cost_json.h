#pragma once

#include <cstddef>
#include <optional>

#include "apps/json.h"
#include "spectr/decode/auto/cost_model.h"

namespace spectr::cli {

/// What distributions were like whose acceptance an entry knows, by Support.
inline constexpr const char* support_names[support_count] = {"whole", "cut", "point"};

Json to_json(const LearnedAcceptance& learned);

/// An entry of a file of costs.
Json to_json(const Costs& costs);

/// What an entry says of so many draft models; none where it is not of this form.
std::optional<Costs> costs_from(const Json& entry, std::size_t draft_models);

}  // namespace spectr::cli
