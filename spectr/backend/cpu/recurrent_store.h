#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spectr/base/os/pages.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// Sizes, in f32 numbers, of what a recurrent layer keeps per token of a sequence, and per state at a grid
/// position. They are 0 for attention layers.
struct RecurrentSizes {
  std::size_t inputs = 0;            ///< per token: inputs of the short convolution
  std::size_t keys = 0, values = 0;  ///< per token: keys, and the updates of the state
  std::size_t heads = 0;             ///< value heads; each has a decay
  std::size_t kernel = 1;            ///< kernel size of the convolution
  std::size_t state = 0;             ///< matrices of all heads

  explicit RecurrentSizes(const LayerSpec& layer);
  std::size_t of_token() const { return inputs + keys + values + heads; }
  /// Returns the size of a frame: the inputs of the last tokens before a state, and the state.
  std::size_t of_frame() const { return (kernel - 1) * inputs + state; }
};

/// The data of one sequence for a model's recurrent layers: for the latest slots (CacheSize::recent), in a
/// ring, the contributions of tokens to states, and states at grid positions (CacheSize::frames). StateFrames
/// manages which of them are valid.
class RecurrentStore {
 public:
  /// Throws std::bad_alloc. Pages are committed only when written. `layers` must outlive it.
  RecurrentStore(std::span<const RecurrentSizes> layers, const CacheSize& size);

  static std::size_t bytes(std::span<const RecurrentSizes> layers, const CacheSize& size);

  // Data of a token.
  std::span<float> inputs(std::size_t layer, std::size_t slot) { return part(layer, slot, 0); }
  std::span<float> keys(std::size_t layer, std::size_t slot) { return part(layer, slot, 1); }
  std::span<float> values(std::size_t layer, std::size_t slot) { return part(layer, slot, 2); }
  /// Returns the sums of log decays since the grid, by head.
  std::span<float> decays(std::size_t layer, std::size_t slot) { return part(layer, slot, 3); }

  // Data of a frame.
  std::span<float> frame_inputs(std::size_t layer, std::size_t frame, std::size_t i);
  std::span<float> frame_state(std::size_t layer, std::size_t frame);

  /// Copies slot `from` to slot `to` in all layers.
  void move(std::size_t from, std::size_t to);
  /// Appends the memory of the first `slots` slots and of the given frames. Throws
  /// std::bad_alloc.
  void append_memory(std::size_t slots, std::span<const std::int32_t> frames,
                     std::vector<std::span<std::byte>>& memory) const;

 private:
  std::span<float> part(std::size_t layer, std::size_t slot, std::size_t which);

  std::span<const RecurrentSizes> layers_;
  std::size_t recent_;
  std::size_t token_numbers_ = 0, frame_numbers_ = 0;     // over all layers
  std::vector<std::size_t> token_starts_, frame_starts_;  // by layer
  std::unique_ptr<ZeroedPages> tokens_, frames_;
};

}  // namespace spectr
