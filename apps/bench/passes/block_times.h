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
  std::vector<std::size_t> drafts;  ///< K; methods with one chain use only the first
  std::vector<std::size_t> lengths = {4};
  std::uint32_t seed = 1;
};

/// Measures selection among a block's drafts. Returns rows {method, plan, vocab, laws, filters, k, length,
/// block_us, verify_us, tokens} per kind of distributions (laws.h), unfiltered and with top-k 40.
///
/// block_us is the median time of computing the target's distributions and of the verifier, which `generate`
/// reports as seconds.select; verify_us is that of the verifier alone. tokens is the mean length of these
/// blocks. Models are tables of a few rows, so passes are not included. Fails if a method is unknown, does
/// not draft from one model, or does not support the settings.
Result<Json> measure_blocks(const BlockSettings& settings,
                            const std::function<void(std::size_t, std::size_t)>& done);

}  // namespace spectr::bench
