#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/nn/arch/arch_reader.h"

namespace spectr {

/// Which layers see a window of the text only, and how positions turn there.
struct WindowKeys {
  std::size_t window;         ///< see AttentionSpec; 0: no layer has one
  std::size_t period;         ///< the last layer of each so many sees all
  std::vector<bool> pattern;  ///< by layer, whether it has the window; empty: by the period
  std::optional<float> base;  ///< of the windows' rotations, which are not scaled; none: the others'

  bool slides(std::size_t layer) const {
    return window > 0 && (pattern.empty() ? layer % period + 1 < period : pattern[layer]);
  }
};

/// What holds where a file's keys say nothing.
struct WindowDefaults {
  std::size_t window;
  std::size_t period;
  std::optional<float> base;
};

/// attention.sliding_window, .sliding_window_pattern and rope.freq_base_swa, before the rest of
/// decoder_keys (parts.h), which leaves out a window that nobody has read. Requires:
/// ArchReader::set_blocks().
Result<WindowKeys> window_keys(ArchReader& in, const WindowDefaults& defaults);

/// A layer's AttentionSpec::window: none where no text of the training was longer; then no text may be
/// longer. Requires: spec().context was read.
std::size_t window_of(ArchReader& in, const WindowKeys& keys, std::size_t layer);

/// Gives the layers their windows and rotations. Requires: they were read, and all have attention.
void apply_windows(ArchReader& in, const WindowKeys& keys);

}  // namespace spectr
