#pragma once

/// What a kernel has to know of a quantized format in panels (weight_panels.h), for host and kernels.
namespace spectr {

/// What scales are.
enum class PanelScales : int {
  halves,            ///< F16 numbers, of 32 columns each
  small_and_minima,  ///< bytes of 32 columns each, and those of minima, times factors
  small_of_16,       ///< signed bytes of 16 columns each, times a factor
};

struct PanelFormat {
  int bits, offset;  ///< of codes c; c − offset is what they stand for (of 8 bits: signed bytes)
  PanelScales scales;
};

}  // namespace spectr
