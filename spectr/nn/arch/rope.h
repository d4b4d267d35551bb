#pragma once

#include <cstddef>
#include <optional>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/rope_choice.h"

namespace spectr {

/// How positions are stretched for contexts that are longer than those of the training.
struct RopeScaling {
  enum class Kind { none, linear, yarn };
  Kind kind = Kind::none;
  float factor = 1;
  float attention_factor = 1;        ///< of cosines and sines
  std::size_t original_context = 0;  ///< of the training; 0: not said

  // YaRN (Peng et al. 2023): pairs that turn more than beta_fast times in the original context are not
  // stretched, those that turn less than beta_slow times are, and others in part.
  float share = 1;  ///< of what is not stretched
  float beta_fast = 32, beta_slow = 1;
  float log_multiplier = 0;  ///< see magnitude()
  bool rounds = true;        ///< the bounds of this part to whole dimensions

  /// (0.1 ln f + 1) · a, or, with a log_multiplier l, (0.1 ln f + 1) / (0.1 l ln f + 1) · a: the factor of
  /// cosines and sines, f the factor and a the attention factor.
  float magnitude() const;
};

/// Rotary positions as the keys have them, or somebody's choice has; frequencies without the factors of
/// tensors. Requires: spec().context was read, which YaRN's original context is where no key says it.
struct RopeKeys {
  std::size_t dims;
  float base;
  RopeScaling scaling = {};
};
Result<RopeKeys> rope_keys(ArchReader& in, std::size_t head_dim);

/// Dimensions of a head that turn together: (2i, 2i + 1), or (i, i + dims / 2).
enum class RopePairs { interleaved, halves };
/// Rotations of `dims` dimensions that are neither scaled nor divided.
RopeSpec plain_rope(std::size_t dims, float base, RopePairs pairs);
/// Its tensors are optional: `rope_freqs.weight`, divisors of the frequencies, and
/// `rope_factors_short.weight` and `rope_factors_long.weight`, the same for contexts up to the original one
/// and for longer ones.
Result<RopeSpec> rope(ArchReader& in, const RopeKeys& keys, RopePairs pairs);

}  // namespace spectr
