#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spectr/base/zeroed_pages.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// What one recurrent layer keeps of each token of a sequence, and of a state at a position of the grid, in
/// numbers: all of them are floats. Layers with attention keep nothing.
struct RecurrentSizes {
  std::size_t inputs = 0;            ///< of the short convolution, of a token
  std::size_t keys = 0, values = 0;  ///< of a token: keys, and what its values add to the state
  std::size_t heads = 0;             ///< of values: each has a decay of its own
  std::size_t kernel = 1;            ///< tokens that the convolution reads
  std::size_t state = 0;             ///< of all heads' matrices

  explicit RecurrentSizes(const LayerSpec& layer);
  std::size_t of_token() const { return inputs + keys + values + heads; }
  /// The inputs of the last tokens before a state, and the state.
  std::size_t of_frame() const { return (kernel - 1) * inputs + state; }
};

/// What the recurrent layers of a model keep of one sequence: of the latest slots (CacheSize::recent), in a
/// ring, what tokens add to states; and states at positions of the grid (CacheSize::frames). Which of them
/// are there is StateFrames' business.
class RecurrentStore {
 public:
  /// Throws std::bad_alloc. Memory is only taken as it is written to. `layers` must outlive it.
  RecurrentStore(std::span<const RecurrentSizes> layers, const CacheSize& size);

  static std::size_t bytes(std::span<const RecurrentSizes> layers, const CacheSize& size);

  // Of a token.
  std::span<float> inputs(std::size_t layer, std::size_t slot) { return part(layer, slot, 0); }
  std::span<float> keys(std::size_t layer, std::size_t slot) { return part(layer, slot, 1); }
  std::span<float> values(std::size_t layer, std::size_t slot) { return part(layer, slot, 2); }
  /// The sums of the logarithms of decays since the grid, by head.
  std::span<float> decays(std::size_t layer, std::size_t slot) { return part(layer, slot, 3); }

  // Of a frame.
  std::span<float> frame_inputs(std::size_t layer, std::size_t frame, std::size_t i);
  std::span<float> frame_state(std::size_t layer, std::size_t frame);

  /// What the layers have of slot `from` goes to slot `to`.
  void move(std::size_t from, std::size_t to);
  /// Appends the memory of what it has of its first `slots` slots, and of these frames. Throws
  /// std::bad_alloc.
  void append_memory(std::size_t slots, std::span<const std::int32_t> frames,
                     std::vector<std::span<std::byte>>& memory) const;

 private:
  std::span<float> part(std::size_t layer, std::size_t slot, std::size_t which);

  std::span<const RecurrentSizes> layers_;
  std::size_t recent_;
  std::size_t token_numbers_ = 0, frame_numbers_ = 0;     // of all layers
  std::vector<std::size_t> token_starts_, frame_starts_;  // by layer
  std::unique_ptr<ZeroedPages> tokens_, frames_;
};

}  // namespace spectr
