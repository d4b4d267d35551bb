#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "lab/theory/markov_pair.h"
#include "spectr/base/result.h"
#include "spectr/decode/methods.h"

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

/// What a text took: tokens, and nodes of the tree that is scored, per call of the target.
struct Efficiency {
  double tokens_per_call, rows_per_call;
};

/// Decodes `runs` texts by the real decoder of a method and real random numbers, and calls counted() for
/// each. The result depends on the seed alone.
Result<void> simulate_efficiency(const MarkovPair& pair, std::string_view method,
                                 const MethodOptions& options, std::size_t runs, std::uint64_t seed,
                                 const std::function<void(const Efficiency&)>& counted);

/// What a decoder itself does on a pair, by enumeration of all that can happen, from a uniformly drawn start.
struct EnumeratedDecoder {
  double calls = 0.0;        ///< of the target
  double corrections = 0.0;  ///< blocks that end in one
  double tv = 0.0;           ///< of the whole text's distribution from the target's
  std::map<std::vector<Token>, double> distribution = {};  ///< of start and text
};

/// Drafts reach up to the horizon, whatever options.length says. Error: no such method, or too many outcomes.
Result<EnumeratedDecoder> enumerate(const MarkovPair& pair, std::string_view method, MethodOptions options);
Result<EnumeratedDecoder> enumerate(const MarkovPair& pair, Decoder& decoder);

}  // namespace spectr::lab
