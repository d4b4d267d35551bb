#pragma once

#include <cstddef>
#include <vector>

#include "spectr/nn/transformer.h"

namespace spectr::bench {

/// A test in llama-bench's sense: a prompt read, or tokens generated one by one, behind `depth` tokens.
struct PassTest {
  std::size_t prompt = 0;
  std::size_t generated = 0;
  std::size_t depth = 0;

  /// "pp512", "tg128", "tg128 @ d256"
  std::string name() const;
};

/// Nanoseconds of every repetition, after one that is not counted. Passes alone: nothing is tokenized or
/// sampled. Error: the test does not fit the context.
Result<std::vector<double>> time_passes(const Transformer& model, const PassTest& test,
                                        std::size_t repetitions);

}  // namespace spectr::bench
