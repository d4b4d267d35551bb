#pragma once

#include <cstddef>
#include <vector>

#include "spectr/nn/transformer.h"

namespace spectr::bench {

/// A test in llama-bench's sense: prefill of a prompt or generation token by token, after `depth` tokens.
struct PassTest {
  std::size_t prompt = 0;
  std::size_t generated = 0;
  std::size_t depth = 0;

  /// Returns a name such as "pp512", "tg128" or "tg128 @ d256".
  std::string name() const;
};

/// Returns the nanoseconds of each repetition, after one warm-up. Measures passes only, without tokenization
/// and sampling. Fails if the test does not fit the context.
Result<std::vector<double>> time_passes(const Transformer& model, const PassTest& test,
                                        std::size_t repetitions);

}  // namespace spectr::bench
