#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spectr/backend/cuda/product_plan.h"
#include "spectr/backend/device/calls.h"
#include "spectr/base/result.h"

namespace spectr::cuda {

/// What the plan of a product goes by.
ProductSizes sizes_of(const call::Product& product);

/// Of a pass's calls those that can be run at any time, whatever memory holds: products and what stands
/// between them. They write to nothing but the pass's own buffers.
std::vector<call::AnyCall> calls_for_trial(std::span<const call::AnyCall> calls);

/// Bytes of codes of the products whose plan was never chosen.
std::size_t bytes_to_try(std::span<const call::AnyCall> calls, const ProductPlans& plans);

/// Chooses the plans of these products, one after the other, those of most bytes first: of the most likely
/// ones the one that the whole pass is fastest with, as which that is depends on the kernels before and after
/// it. `seconds` gives the time of a pass with the plans as they stand. Error: its.
Result<void> choose_plans(std::span<const call::AnyCall> calls, ProductPlans& plans,
                          const std::function<Result<double>()>& seconds);

/// What has been chosen, a line each, and back: lines that fit no product of this build are left out.
std::string lines_of(const ProductPlans& plans);
void take_lines(const std::string& lines, ProductPlans& plans);

}  // namespace spectr::cuda
