#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/base/recycled.h"

namespace spectr {

/// What a random choice is for. No two purposes ever share a random number.
enum class Purpose : std::uint32_t { draft, select, residual, bonus, test };

/// Where in a run a choice is made. Positions alone are not enough: one that was drafted and not kept is
/// drawn again in the next block, and the first look must not be correlated with the second.
struct Place {
  std::uint64_t block = 0;     ///< number of blocks before this one
  std::uint64_t node = 0;      ///< draft or node within the block
  std::uint64_t position = 0;  ///< position in the text
  Purpose purpose = Purpose::test;
};

/// The only source of randomness of plans, drafters and verifiers: discrete choices from given weights.
///
/// Two implementations: CounterRandom draws them, Enumerator goes through every outcome with its exact
/// probability. What is sampled and what is proven is thus the same code.
class Choices {
 public:
  virtual ~Choices() = default;

  /// Returns i with probability weights[i] / Σ weights.
  /// Requires: weights finite, ≥ 0, with a positive sum. Never returns an index of weight 0.
  virtual std::size_t draw(std::span<const double> weights) = 0;

  /// Draws min(k, number of positive weights) different indices, one after another, each in proportion to the
  /// weights of those not drawn yet. Returns them in the order drawn. Requires: weights finite and ≥ 0.
  RecycledVector<std::size_t> draw_different(std::span<const double> weights, std::size_t k);

  /// The set of those indices, ascending.
  virtual RecycledVector<std::size_t> draw_set(std::span<const double> weights, std::size_t k);

  /// The choices that follow are made at `place`; no place is entered twice in a run.
  virtual void enter(const Place& place) = 0;

  /// True with probability p (clamped to [0, 1]); draws nothing where the answer is certain.
  bool accept(double p) {
    if (!(p > 0.0)) return false;
    if (p >= 1.0) return true;
    const double weights[] = {1.0 - p, p};
    return draw(weights) == 1;
  }
};

}  // namespace spectr
