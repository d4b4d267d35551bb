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

/// The mean and spread of added values.
class Average {
 public:
  void add(double value);
  std::size_t count() const { return count_; }
  double mean() const { return mean_; }
  /// Returns half the width of the band that covers the expected value with probability 0.95: 1.96 standard
  /// errors. Infinite for fewer than two values.
  double band() const;

 private:
  std::size_t count_ = 0;
  double mean_ = 0.0, squares_ = 0.0;  // squares_: Σ (value − mean)²
};

/// Decodes `runs` sequences with drafts up to the horizon, by the method's decoder ("speculative", or "batch"
/// with M sequences) with random numbers, and calls counted(i, rejections) for each, i = 0, 1, …. A rejection
/// is a block that ends in a correction. The result depends only on the seed.
Result<void> simulate_rejections(const MarkovPair& pair, std::size_t sequences, std::size_t runs,
                                 std::uint64_t seed, const std::function<void(std::size_t, double)>& counted);

/// The cost of a sequence: its tokens, and the nodes of scored trees, per call of the target.
struct Efficiency {
  double tokens_per_call, rows_per_call;
};

/// Decodes `runs` sequences by a method's decoder with random numbers, and calls counted() for each. The
/// result depends only on the seed.
Result<void> simulate_efficiency(const MarkovPair& pair, std::string_view method,
                                 const MethodOptions& options, std::size_t runs, std::uint64_t seed,
                                 const std::function<void(const Efficiency&)>& counted);

/// The exact behaviour of a decoder on a pair, by enumeration of all outcomes, from a uniformly drawn start.
struct EnumeratedDecoder {
  double calls = 0.0;        ///< expected target calls
  double corrections = 0.0;  ///< expected blocks that end in a correction
  double tv = 0.0;           ///< between the distributions of the whole sequence and of the target's
  std::map<std::vector<Token>, double> distribution = {};  ///< by start and sequence
};

/// Drafts reach the horizon, regardless of options.length. Fails for an unknown method or too many outcomes.
Result<EnumeratedDecoder> enumerate(const MarkovPair& pair, std::string_view method, MethodOptions options);
Result<EnumeratedDecoder> enumerate(const MarkovPair& pair, Decoder& decoder);

}  // namespace spectr::lab
