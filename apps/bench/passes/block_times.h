#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/result.h"

namespace spectr::bench {

struct BlockSettings {
  std::vector<std::string> methods;
  std::vector<std::size_t> vocabularies;
  std::vector<std::size_t> drafts;  ///< K; of methods with one chain the first one stands for all
  std::vector<std::size_t> lengths = {4};
  std::uint32_t seed = 1;
};

/// Returns the cost of selecting among a block's drafts: rows {method, plan, vocab, laws, filters, k, length,
/// block_us, verify_us, tokens}, for every kind of laws (laws.h), without filters and with top-k 40.
///
/// block_us is the median time of the target's distributions and of the verifier together, which `generate`
/// reports as seconds.select; verify_us that of the verifier alone, once the distributions are there. tokens
/// is the mean length of these blocks. Models are tables of a few rows, so no pass is part of it. Fails if a
/// method is unknown or does not draft from one model, or cannot have these settings.
Result<Json> measure_blocks(const BlockSettings& settings,
                            const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace spectr::bench
