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

/// Returns the sizes that determine a product's plan.
ProductSizes sizes_of(const call::Product& product);

/// Returns the calls of a pass that can run at any time, with any memory contents: products and the calls
/// between them. They write only to the pass's own buffers.
std::vector<call::AnyCall> calls_for_trial(std::span<const call::AnyCall> calls);

/// Returns the code bytes of the products without a chosen plan.
std::size_t bytes_to_try(std::span<const call::AnyCall> calls, const ProductPlans& plans);

/// Chooses plans for the products without one, largest first. Tries the most likely candidates and keeps the
/// one with the fastest pass, because the best plan depends on the kernels before and after the product.
/// `seconds` times a pass with the current plans. Errors: those of `seconds`.
Result<void> choose_plans(std::span<const call::AnyCall> calls, ProductPlans& plans,
                          const std::function<Result<double>()>& seconds);

/// Serialize and parse the chosen plans, one per line. Lines that fit no product of this build are skipped.
std::string lines_of(const ProductPlans& plans);
void take_lines(const std::string& lines, ProductPlans& plans);

}  // namespace spectr::cuda
