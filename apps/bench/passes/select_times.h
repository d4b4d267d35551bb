#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/result.h"

namespace spectr::bench {

struct SelectSettings {
  std::vector<std::string> plans;  ///< empty: all plans
  std::vector<std::size_t> vocabularies = {40, 4096, 32'000, 151'936, 262'144};
  std::vector<std::size_t> drafts = {1, 4, 8};
  std::uint32_t seed = 1;
};

/// Measures the cost of plans. Returns rows {plan, vocab, laws, filters, k, build_us, select_us, error} with
/// medians of many repetitions, for each kind of distributions (laws.h), unfiltered and with default filters.
/// If a plan does not apply, `error` says why and the times are null.
Result<Json> measure_selection(const SelectSettings& settings,
                               const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace spectr::bench
