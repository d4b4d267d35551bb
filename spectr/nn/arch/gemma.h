#pragma once

#include <cstddef>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/arch/windows.h"

namespace spectr {

/// The differences between the generations of Gemma.
struct Gemma {
  WindowDefaults windows;
  float score_cap, logit_cap;  ///< defaults of absent keys; 0: none
  bool head_norms;
  /// Models of this many layers scale scores by 1/√(width / heads), others by 1/√head_dim; no key says so.
  std::size_t layers_scaled_by_width;
};

/// Reads a Gemma: embeddings times √width, norms before and after blocks, GELU gates, rotary pairs (i, i +
/// dims / 2), windows in some layers, soft caps.
Result<void> read_gemma(ArchReader& in, const Gemma& generation);

}  // namespace spectr
