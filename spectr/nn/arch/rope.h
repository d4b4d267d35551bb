#pragma once

#include <cstddef>
#include <optional>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/rope_choice.h"

namespace spectr {

/// How positions are scaled for contexts longer than the trained one.
struct RopeScaling {
  enum class Kind { none, linear, yarn };
  Kind kind = Kind::none;
  float factor = 1;
  float attention_factor = 1;        ///< factor of cosines and sines
  std::size_t original_context = 0;  ///< trained context; 0: not specified

  // YaRN (Peng et al. 2023): pairs that make more than beta_fast rotations in the original context keep their
  // frequency, those with less than beta_slow are scaled, and those in between are interpolated.
  float share = 1;  ///< weight of the original frequencies
  float beta_fast = 32, beta_slow = 1;
  float log_multiplier = 0;  ///< see magnitude()
  bool rounds = true;        ///< rounds the bounds of the interpolation to whole dimensions

  /// Returns the factor of cosines and sines: (0.1 ln f + 1) · a or, with a log_multiplier l, (0.1 ln f + 1)
  /// / (0.1 l ln f + 1) · a, where f is the factor and a the attention factor.
  float magnitude() const;
};

/// Settings of rotary positions from the keys and their overrides, before a tensor's divisors. Requires:
/// spec().context was read; it is YaRN's original context if no key gives one.
struct RopeKeys {
  std::size_t dims;
  float base;
  RopeScaling scaling = {};
};
Result<RopeKeys> rope_keys(ArchReader& in, std::size_t head_dim);

/// The dimensions of a head that form a pair: (2i, 2i + 1), or (i, i + dims / 2).
enum class RopePairs { interleaved, halves };
/// Returns rotations of `dims` dimensions, without scaling and divisors.
RopeSpec plain_rope(std::size_t dims, float base, RopePairs pairs);
/// Reads the optional tensors: `rope_freqs.weight`, divisors of the frequencies, or
/// `rope_factors_short.weight` and `rope_factors_long.weight`, divisors for contexts up to the original one
/// and for longer ones.
Result<RopeSpec> rope(ArchReader& in, const RopeKeys& keys, RopePairs pairs);

}  // namespace spectr
