#include "spectr/nn/arch/windows.h"

#include <algorithm>

#include "spectr/nn/arch/parts.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_window = 1 << 24, max_period = 512;

}  // namespace

Result<WindowKeys> window_keys(ArchReader& in, const WindowDefaults& defaults) {
  constexpr std::string_view window = "attention.sliding_window", base = "rope.freq_base_swa",
                             pattern = "attention.sliding_window_pattern";
  WindowKeys keys{defaults.window, defaults.period, {}, defaults.base};
  if (in.has(window)) {
    SPECTR_TRY(keys.window, in.count(window, max_window));
  }
  in.require_if(keys.window > 0, Feature::sliding_window, window);
  if (in.has(base)) {
    SPECTR_TRY(keys.base, in.real(base, 1, 1e12));
  }
  if (in.is_array(pattern)) {
    SPECTR_TRY(keys.pattern, in.booleans(pattern));
  } else {
    SPECTR_TRY(keys.period, in.count(pattern, max_period, defaults.period));
  }
  return keys;
}

std::size_t window_of(ArchReader& in, const WindowKeys& keys, std::size_t layer) {
  if (!keys.slides(layer)) return 0;
  if (keys.window < in.spec().context) return keys.window;
  in.spec().max_context = std::min(in.spec().max_context, keys.window);
  return 0;
}

void apply_windows(ArchReader& in, const WindowKeys& keys) {
  std::vector<LayerSpec>& layers = in.spec().layers;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    AttentionSpec& attention = *layers[i].attention();
    if (!keys.slides(i)) continue;
    attention.window = window_of(in, keys, i);
    if (!keys.base) continue;
    const RopePairs pairs = attention.rope.interleaved ? RopePairs::interleaved : RopePairs::halves;
    attention.rope = plain_rope(attention.rope.dims, *keys.base, pairs);
  }
}

}  // namespace spectr
