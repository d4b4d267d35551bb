#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"

namespace spectr {

/// Which layers have sliding-window attention, and the rotary positions of these layers.
struct WindowKeys {
  std::size_t window;         ///< see AttentionSpec; 0: no layer has one
  std::size_t period;         ///< the last layer of each group of this size has full attention
  std::vector<bool> pattern;  ///< by layer, true if it has the window; empty: by the period
  std::optional<float> base;  ///< rotary base of these layers, not scaled; none: as in the others

  bool slides(std::size_t layer) const {
    return window > 0 && (pattern.empty() ? layer % period + 1 < period : pattern[layer]);
  }
};

/// Defaults for absent keys of a file.
struct WindowDefaults {
  std::size_t window;
  std::size_t period;
  std::optional<float> base;
};

/// Reads attention.sliding_window, .sliding_window_pattern and rope.freq_base_swa. Must precede
/// decoder_keys() (parts.h), which refuses an unread window shorter than the context. Requires:
/// ArchReader::set_blocks().
Result<WindowKeys> window_keys(ArchReader& in, const WindowDefaults& defaults);

/// Returns a layer's AttentionSpec::window. Omits a window that covers the trained context, and limits
/// spec().max_context to it. Requires: spec().context was read.
std::size_t window_of(ArchReader& in, const WindowKeys& keys, std::size_t layer);

/// Sets the layers' windows and their rotations. Requires: all layers were read and have attention.
void apply_windows(ArchReader& in, const WindowKeys& keys);

}  // namespace spectr
