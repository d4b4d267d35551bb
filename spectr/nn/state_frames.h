#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spectr/nn/pass_batch.h"

namespace spectr {

/// What recurrent layers keep of a sequence: see CacheSize.
struct FrameCounts {
  std::size_t context;
  std::size_t recent;
};

/// Which states of a sequence's recurrent layers are kept, in which frames of its cache.
///
/// A row starts from the last state of its path before it: the state at the largest multiple of state_grid
/// that is no larger than its position. Where no frame has it (a text goes on, or a branch of the tree has
/// passed the position), it is computed from the one before it and the state_grid tokens between, whose slots
/// the cache still has. So a row's bits depend on its own sequence alone, however that was cut into passes.
///
/// Kept are the two latest states of the text, the last ones of two prompts, and up to four at the multiples
/// of a quarter of the context. Taking tokens back is free where a kept state and the slots since are still
/// there; else the sequence is computed again from the last state that is kept.
///
/// Plain bookkeeping: what the frames hold is the backend's.
class StateFrames {
 public:
  static constexpr std::size_t checkpoints = 4, prompt_ends = 2;
  /// Others: two latest ones, and room for the next two to be written while the last is read.
  static constexpr std::size_t latest = 4;
  static constexpr std::size_t max_frames = checkpoints + prompt_ends + latest;

  /// How many slots a cache must keep for passes of at most so many rows and trees of so many nodes.
  static std::size_t recent_slots(std::size_t rows, std::size_t nodes);

  explicit StateFrames(const FrameCounts& counts);

  /// Appends the states that the batch's rows from `first_row` on start from, and which, and gives frames to
  /// those that are to be kept. `length`: tokens of the text that have slots, with this pass; the slots
  /// behind are the tree's. `ends_prompt`: the text's end came as a text. The rows' pass must follow before
  /// any other call; after one that failed, rewind. Throws std::bad_alloc; then only the batch is changed.
  void plan(PassBatch& batch, CacheId cache, std::size_t first_row, std::size_t length, bool ends_prompt);

  /// How many tokens are left where all behind the first `length` are forgotten: `length`, or as many as the
  /// last kept state has.
  std::size_t rewind(std::size_t length);

  /// How many of the first `length` tokens another cache can take over. Requires: the last pass was run.
  std::size_t copyable(std::size_t length) const;

  /// What is kept of a sequence, as plain data.
  struct Frame {
    std::size_t grid = 0;      ///< 0: unused
    bool ends_prompt = false;  ///< is the last one before a prompt's end
    bool is_new = false;       ///< given by the last plan
  };
  struct Kept {
    std::size_t first_slot = 0;  ///< of those that the cache still has
    std::array<Frame, max_frames> frames = {};
  };
  /// Returns what is kept of the first `length` tokens. Requires: length ≤ copyable(length).
  Kept kept(std::size_t length) const;
  /// The frames in use.
  static std::vector<std::int32_t> used_frames(const Kept& kept);
  /// Keeps what a cache of the same counts has kept.
  void restore(const Kept& kept) { kept_ = kept; }

 private:
  std::int32_t state_at(PassBatch& batch, CacheId cache, std::size_t first_state, std::size_t row,
                        std::size_t grid, std::size_t length) const;
  std::size_t choose_frame(const PassBatch& batch, std::size_t first_state) const;
  bool is_checkpoint(const Frame& frame) const { return frame.grid > 0 && frame.grid % apart_ == 0; }
  std::size_t rank(const Frame& frame) const;

  FrameCounts counts_;
  std::size_t apart_;  // of checkpoints
  Kept kept_;
};

}  // namespace spectr
