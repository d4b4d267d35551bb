#pragma once

#include <cstddef>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/arch/windows.h"

namespace spectr {

/// The settings of a Gemma 4 that its drafter has, too. Full layers and layers with a window differ in their
/// heads and rotations.
struct Gemma4 {
  struct Kind {
    std::size_t head_dim;
    RopeSpec rope;
  };

  DecoderKeys keys;
  WindowKeys windows;
  RopeKeys rotation;  ///< of full layers
  Kind full, window;

  const Kind& kind(std::size_t layer) const { return windows.slides(layer) ? window : full; }
};

/// Reads the keys. Requires: ArchReader::set_blocks().
Result<Gemma4> gemma4_keys(ArchReader& in);
/// Reads the divisors of the rotations. Must follow ArchReader::end_of_keys().
Result<void> gemma4_rotations(ArchReader& in, Gemma4& gemma);
/// Reads a layer without its keys and values: norms, queries, output, dense block and scale. Attention has no
/// window yet.
Result<void> gemma4_layer(ArchReader& in, const Gemma4& gemma, std::size_t layer);

}  // namespace spectr
