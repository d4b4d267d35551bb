#include "spectr/nn/state_frames.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {

// A pass may write `rows` slots after those since the last kept state: up to one grid step, an accepted path,
// and the slots that a short convolution reads before them (kernels do not exceed the grid).
std::size_t StateFrames::recent_slots(std::size_t rows, std::size_t nodes) {
  return 2 * state_grid + nodes + rows;
}

StateFrames::StateFrames(const FrameCounts& counts)
    : counts_(counts), checkpoint_interval_(round_up(div_up(counts.context, checkpoints), state_grid)) {}

/// Returns the index of the state at a grid position of a row's path. Appends it to the batch if it is not
/// there yet.
std::int32_t StateFrames::state_at(PassBatch& batch, CacheId cache, std::size_t first_state, std::size_t row,
                                   std::size_t grid, std::size_t length) const {
  for (std::size_t i = first_state; i < batch.states.size(); ++i) {
    const GridState& state = batch.states[i];
    if (std::cmp_not_equal(state.grid, grid)) continue;
    const auto other = static_cast<std::size_t>(state.row);
    if (grid == 0 || batch.slot_at(other, grid - 1) == batch.slot_at(row, grid - 1))
      return static_cast<std::int32_t>(i);
  }
  GridState state{cache, static_cast<std::int32_t>(grid), static_cast<std::int32_t>(row)};
  if (grid > 0) {
    const bool is_text = batch.slot_at(row, grid - 1) < length;
    const auto kept = std::ranges::find(kept_.frames, grid, &Frame::grid);
    if (is_text && kept != kept_.frames.end()) {
      state.frame = static_cast<std::int32_t>(kept - kept_.frames.begin());
      state.restores = grid < kept_.first_slot + state_grid;
    } else {
      state.from = state_at(batch, cache, first_state, row, grid - state_grid, length);
    }
  }
  batch.states.push_back(state);
  return static_cast<std::int32_t>(batch.states.size() - 1);
}

/// Returns the cost of reusing a frame. Enough latest frames are recycled before unused ones take up
/// memory.
std::size_t StateFrames::rank(const Frame& frame) const {
  if (is_checkpoint(frame)) return 4;
  if (frame.ends_prompt) return 3;
  if (frame.grid > 0) return 1;
  const auto is_ordinary = [this](const Frame& other) {
    return other.grid > 0 && !other.ends_prompt && !is_checkpoint(other);
  };
  return std::ranges::count_if(kept_.frames, is_ordinary) < static_cast<std::ptrdiff_t>(latest) ? 0 : 2;
}

/// Returns the frame to reuse: the oldest of the lowest rank, neither new nor read by this pass.
std::size_t StateFrames::choose_frame(const PassBatch& batch, std::size_t first_state) const {
  const auto is_free = [&](std::size_t i) {
    return !kept_.frames[i].is_new &&
           std::ranges::find(batch.states.begin() + static_cast<std::ptrdiff_t>(first_state),
                             batch.states.end(), static_cast<std::int32_t>(i),
                             &GridState::frame) == batch.states.end();
  };
  std::size_t best = kept_.frames.size();
  for (std::size_t i = 0; i < kept_.frames.size(); ++i) {
    if (!is_free(i)) continue;
    const auto key = [this](std::size_t j) { return std::pair(rank(kept_.frames[j]), kept_.frames[j].grid); };
    if (best == kept_.frames.size() || key(i) < key(best)) best = i;
  }
  SPECTR_CHECK(best < kept_.frames.size());
  return best;
}

void StateFrames::plan(PassBatch& batch, CacheId cache, std::size_t first_row, std::size_t length,
                       bool ends_prompt) {
  const std::size_t first_state = batch.states.size(), rows = batch.rows();
  batch.row_states.reserve(rows);
  for (std::size_t r = first_row; r < rows; ++r) {
    const std::size_t grid = static_cast<std::size_t>(batch.positions[r]) / state_grid * state_grid;
    batch.row_states.push_back(state_at(batch, cache, first_state, r, grid, length));
  }

  // From here on nothing throws.
  for (std::size_t r = first_row; r < rows; ++r) {
    const std::size_t end = static_cast<std::size_t>(batch.slots[r]) + 1;
    if (end > counts_.recent) kept_.first_slot = std::max(kept_.first_slot, end - counts_.recent);
  }
  for (Frame& frame : kept_.frames) frame.is_new = false;
  const auto is_text = [&](const GridState& state) {
    return state.from >= 0 && batch.slot_at(static_cast<std::size_t>(state.row),
                                            static_cast<std::size_t>(state.grid) - 1) < length;
  };
  std::size_t last = 0;
  for (std::size_t i = first_state; i < batch.states.size(); ++i) {
    if (is_text(batch.states[i])) last = std::max(last, static_cast<std::size_t>(batch.states[i].grid));
  }
  for (std::size_t i = first_state; i < batch.states.size(); ++i) {
    GridState& state = batch.states[i];
    const auto grid = static_cast<std::size_t>(state.grid);
    if (!is_text(state) || (grid + state_grid < last && grid % checkpoint_interval_ != 0)) continue;
    const std::size_t frame = choose_frame(batch, first_state);
    kept_.frames[frame] = {grid, false, true};
    state.keep = static_cast<std::int32_t>(frame);
  }
  if (!ends_prompt) return;
  const auto end = std::ranges::max_element(kept_.frames, {}, &Frame::grid);
  if (end->grid == 0) return;
  end->ends_prompt = true;
  if (std::ranges::count(kept_.frames, true, &Frame::ends_prompt) >
      static_cast<std::ptrdiff_t>(prompt_ends)) {
    const auto grid_of = [](const Frame& frame) { return frame.ends_prompt ? frame.grid : SIZE_MAX; };
    std::ranges::min_element(kept_.frames, {}, grid_of)->ends_prompt = false;
  }
}

std::size_t StateFrames::rewind(std::size_t length) {
  std::size_t kept = 0;
  for (Frame& frame : kept_.frames) {
    if (frame.is_new || frame.grid > length) frame = {};
    kept = std::max(kept, frame.grid);
  }
  if (kept_.first_slot <= kept) return length;
  kept_.first_slot = kept;  // earlier slots are not needed; later ones are recomputed
  return kept;
}

std::size_t StateFrames::copyable(std::size_t length) const {
  std::size_t kept = 0;
  for (const Frame& frame : kept_.frames) {
    if (frame.grid <= length) kept = std::max(kept, frame.grid);
  }
  return kept_.first_slot <= kept ? length : kept;
}

StateFrames::Kept StateFrames::kept(std::size_t length) const {
  StateFrames part = *this;
  for (Frame& frame : part.kept_.frames) frame.is_new = false;  // it has been written
  part.rewind(length);
  return part.kept_;
}

std::vector<std::int32_t> StateFrames::used_frames(const Kept& kept) {
  std::vector<std::int32_t> used;
  for (std::size_t i = 0; i < kept.frames.size(); ++i) {
    if (kept.frames[i].grid > 0) used.push_back(static_cast<std::int32_t>(i));
  }
  return used;
}

}  // namespace spectr
