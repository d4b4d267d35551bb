#pragma once

#include <cstdint>
#include <functional>

#include "lab/theory/markov_pair.h"
#include "spectr/base/result.h"

namespace spectr::lab {

/// Mean and spread of what has been counted so far.
class Average {
 public:
  void add(double value);
  std::size_t count() const { return count_; }
  double mean() const { return mean_; }
  /// Half the width of the band that covers the expected value with probability 0.95: 1.96 standard errors.
  /// Infinite below two values.
  double band() const;

 private:
  std::size_t count_ = 0;
  double mean_ = 0.0, squares_ = 0.0;  // squares_: Σ (value − mean)²
};

/// Decodes `runs` texts with drafts up to the horizon by the real decoder of the method ("speculative", or
/// "batch" with M sequences) and real random numbers, and calls counted(i, rejections) for each, i = 0, 1, ….
/// A rejection is a block that ends in a correction. The result depends on the seed alone.
Result<void> simulate_rejections(const MarkovPair& pair, std::size_t sequences, std::size_t runs,
                                 std::uint64_t seed, const std::function<void(std::size_t, double)>& counted);

}  // namespace spectr::lab
