#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectr/nn/pass_batch.h"

namespace spectr {

/// Capacity of a cache for recurrent layers, see CacheSize.
struct FrameCounts {
  std::size_t context;
  std::size_t recent;
};

/// Assigns states of a sequence's recurrent layers to frames of its cache.
///
/// A row starts from the last state on its path: the one at the largest multiple of state_grid that does not
/// exceed its position. If no frame has that state (a text continues, or a branch of the tree has passed the
/// position), it is computed from the previous one and the state_grid tokens in between, whose slots the
/// cache still has. So a row's bits depend only on its own sequence, however it was split into passes.
///
/// The frames keep the two latest states of the text, the last states of two prompts, and up to four states
/// at multiples of a quarter of the context. A rollback is free if a kept state and the slots since are still
/// there; otherwise the sequence is recomputed from the last kept state.
///
/// This class only does the bookkeeping: the backend owns the contents of the frames.
class StateFrames {
 public:
  static constexpr std::size_t checkpoints = 4, prompt_ends = 2;
  /// All other frames: the two latest states, and two that the next pass writes while it reads the last one.
  static constexpr std::size_t latest = 4;
  static constexpr std::size_t max_frames = checkpoints + prompt_ends + latest;

  /// Returns the slots that a cache must keep for passes of at most `rows` rows and trees of `nodes` nodes.
  static std::size_t recent_slots(std::size_t rows, std::size_t nodes);

  explicit StateFrames(const FrameCounts& counts);

  /// Appends to the batch the states that its rows from `first_row` on start from, with their indices, and
  /// assigns frames to the states to keep. `length`: tokens of the text that have slots after this pass;
  /// later slots belong to the tree. `ends_prompt`: the pass computes the end of a prompt. It must run before
  /// any other call; if it fails, call rewind(). Throws std::bad_alloc; then only the batch has changed.
  void plan(PassBatch& batch, CacheId cache, std::size_t first_row, std::size_t length, bool ends_prompt);

  /// Drops all tokens after the first `length`. Returns how many tokens remain: `length`, or the position of
  /// the last kept state.
  std::size_t rewind(std::size_t length);

  /// Returns how many of the first `length` tokens another cache can take. Requires: the last pass was run.
  std::size_t copyable(std::size_t length) const;

  /// The states kept for a sequence, as plain data.
  struct Frame {
    std::size_t grid = 0;      ///< 0: unused
    bool ends_prompt = false;  ///< is the last state before a prompt's end
    bool is_new = false;       ///< assigned by the last plan()
  };
  struct Kept {
    std::size_t first_slot = 0;  ///< first slot that the cache still has
    std::array<Frame, max_frames> frames = {};
  };
  /// Returns the states kept for the first `length` tokens. Requires: length ≤ copyable(length).
  Kept kept(std::size_t length) const;
  /// Returns the indices of the frames in use.
  static std::vector<std::int32_t> used_frames(const Kept& kept);
  /// Takes over the states kept by a cache of the same capacity.
  void restore(const Kept& kept) { kept_ = kept; }

 private:
  std::int32_t state_at(PassBatch& batch, CacheId cache, std::size_t first_state, std::size_t row,
                        std::size_t grid, std::size_t length) const;
  std::size_t choose_frame(const PassBatch& batch, std::size_t first_state) const;
  bool is_checkpoint(const Frame& frame) const {
    return frame.grid > 0 && frame.grid % checkpoint_interval_ == 0;
  }
  std::size_t rank(const Frame& frame) const;

  FrameCounts counts_;
  std::size_t checkpoint_interval_;  // in tokens
  Kept kept_;
};

}  // namespace spectr
