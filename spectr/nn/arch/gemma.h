#pragma once

#include <cstddef>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/arch/windows.h"

namespace spectr {

/// In what the generations of Gemma differ.
struct Gemma {
  WindowDefaults windows;
  float score_cap, logit_cap;  ///< where a file's keys say nothing; 0: none
  bool head_norms;
  /// Models of so many layers scale scores by 1/√(width / heads), all others by 1/√head_dim: no key says so.
  std::size_t layers_scaled_by_width;
};

/// Embeddings times √width, norms around blocks, gates with GELU, halves of a head that turn, windows in some
/// layers, caps.
Result<void> read_gemma(ArchReader& in, const Gemma& generation);

}  // namespace spectr
