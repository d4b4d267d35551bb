#pragma once

// What a pass does with the states of recurrent layers, as plain data for host and kernels.

namespace spectr {

/// A place in the pool of states, in pairs of floats; −1: none.
using StatePlace = int;

/// Tokens between two positions at which states are kept (state_grid).
inline constexpr int grid_tokens = 16;

/// Where the matrices of a state are: of a frame those of a layer lie behind those of the layers before it,
/// otherwise they lie by themselves. None: the state is nothing.
struct StateAt {
  StatePlace place = -1;
  int in_frame = 0;
};

/// A row, and the tokens of its path that it reads.
struct alignas(16) StateRow {
  int since;      ///< tokens between its state and itself, less than grid_tokens
  int step;       ///< its state among those of the pass
  StateAt state;  ///< what it starts from
  /// The slot of position p of the path is number p − grid + grid_tokens, grid the state's position.
  StatePlace path[2 * grid_tokens];
};

/// A state of the pass, each behind those that it needs.
struct alignas(16) StateStep {
  StateAt at;
  StateAt before;  ///< what it is computed from, with the tokens between, if it
  int is_new;      ///< is computed in this pass, and not kept since an earlier one
  int restores;    ///< what convolutions read before it goes from its frame to the tokens
  int unused[2] = {};
  StatePlace tokens[grid_tokens];  ///< before its position
};

/// The rows of a text, and its states.
struct alignas(16) StateText {
  int first_row, rows;
  int first_step, steps;
};

}  // namespace spectr
