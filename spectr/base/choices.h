#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spectr/base/recycled.h"

namespace spectr {

/// The purpose of a random choice. Different purposes never share a random number.
enum class Purpose : std::uint32_t { draft, select, residual, bonus, test };

/// Identifies a random choice within a run. The position alone is not enough: a rejected position is drafted
/// again in the next block, and the second draft must not be correlated with the first.
struct Place {
  std::uint64_t block = 0;     ///< number of blocks before this one
  std::uint64_t node = 0;      ///< draft or node within the block
  std::uint64_t position = 0;  ///< position in the sequence
  Purpose purpose = Purpose::test;
};

/// Discrete choices from given weights: the only source of randomness of plans, drafters and verifiers.
///
/// There are two implementations. CounterRandom samples; Enumerator visits every outcome with its exact
/// probability. The code that is sampled is therefore the code whose distribution is verified.
class Choices {
 public:
  virtual ~Choices() = default;

  /// Returns i with probability weights[i] / Σ weights.
  /// Requires: weights finite, ≥ 0, with a positive sum. Never returns an index of weight 0.
  virtual std::size_t draw(std::span<const double> weights) = 0;

  /// Draws min(k, number of positive weights) different indices, one after another, each in proportion to the
  /// weights of those not drawn yet. Returns them in the order drawn. Requires: weights finite and ≥ 0.
  RecycledVector<std::size_t> draw_different(std::span<const double> weights, std::size_t k);

  /// Draws indices as draw_different() does, but returns them in ascending order.
  virtual RecycledVector<std::size_t> draw_set(std::span<const double> weights, std::size_t k);

  /// Sets the place of the choices that follow. No place may be entered twice in a run.
  virtual void enter(const Place& place) = 0;

  /// Returns true with probability p, clamped to [0, 1]. Draws nothing if the clamped p is 0 or 1.
  bool accept(double p) {
    if (!(p > 0.0)) return false;
    if (p >= 1.0) return true;
    const double weights[] = {1.0 - p, p};
    return draw(weights) == 1;
  }
};

}  // namespace spectr
