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
  std::vector<std::string> plans;  ///< empty: all
  std::vector<std::size_t> vocabularies = {40, 4096, 32'000, 151'936, 262'144};
  std::vector<std::size_t> drafts = {1, 4, 8};
  std::uint32_t seed = 1;
};

/// What plans cost: rows {plan, vocab, laws, filters, k, build_us, select_us, error}, the medians of many
/// repetitions, for every kind of laws (laws.h), without filters and with the default ones. `error` says why
/// a plan does not apply; the times are null then.
Result<Json> measure_selection(const SelectSettings& settings,
                               const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace spectr::bench
