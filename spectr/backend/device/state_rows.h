#pragma once

// Plain-data descriptions of a pass's accesses to recurrent states, shared by host and kernels.

namespace spectr {

/// A location in the pool of states, in pairs of f32; −1: none.
using StatePlace = int;

/// Distance between positions at which states are kept, in tokens (state_grid).
inline constexpr int grid_tokens = 16;

/// The location of a state's matrices. A frame contains those of all layers, scratch memory only those of the
/// current layer. Place −1 is the zero state.
struct StateAt {
  StatePlace place = -1;
  int in_frame = 0;
};

/// A row and the tokens of its path.
struct alignas(16) StateRow {
  int since;      ///< tokens between its state and the row, less than grid_tokens
  int step;       ///< index of its state among the pass's states
  StateAt state;  ///< the state that it starts from
  /// Position p of the path is at index p − grid + grid_tokens, where grid is the state's position.
  StatePlace path[2 * grid_tokens];
};

/// A state of the pass. States are in topological order.
struct alignas(16) StateStep {
  StateAt at;
  StateAt before;  ///< the state that it is computed from, with the tokens in between, if is_new
  int is_new;      ///< 1 if computed in this pass, 0 if kept by an earlier one
  int restores;    ///< 1 if its frame's convolution inputs are copied to the tokens before it
  int unused[2] = {};
  StatePlace tokens[grid_tokens];  ///< the tokens before its position
};

/// The rows of a sequence, and its states.
struct alignas(16) StateText {
  int first_row, rows;
  int first_step, steps;
};

}  // namespace spectr
