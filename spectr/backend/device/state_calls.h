#pragma once

#include <cstddef>

#include "spectr/backend/device/call_places.h"

/// Kernel calls of recurrent layers.
namespace spectr::call {

/// The location of a recurrent layer's numbers in the pool of states (StateMemory): offsets relative to the
/// location of a token, and to that of a frame.
struct States {
  Slice pool;
  std::size_t channels, kernel;              ///< of the convolution
  std::size_t inputs, keys, values, decays;  ///< offsets in a token
  std::size_t frame_inputs, frame_state;     ///< offsets in a frame: [kernel − 1][channels], latest first
};

/// The part of a pass's plan that concerns states (state_rows.h).
struct PlannedStates {
  Slice rows, steps, texts;
  std::size_t row_count;
  std::size_t step_count;  ///< upper bound: steps past the last do nothing
  std::size_t text_count;
};

/// Stores the inputs of convolutions, in ⊙ by (or in), at the rows' tokens. For states that restore them,
/// copies a frame's inputs to the tokens before the state.
struct StoreInputs {
  States states;
  PlannedStates plan;
  Rows in, by;
};

/// Computes out[c] = Σ_j w[c][j] · input[c] of the token kernel − 1 − j before the row's, times factor[c], if
/// given. Tokens before the beginning count as zeros. Frames that the pass keeps get the inputs of the tokens
/// before them.
struct Convolve {
  States states;
  PlannedStates plan;
  Slice weight;  ///< [channels][kernel]
  Rows factor, out;
};

/// Computes x = silu(x), then normalizes each query and key head to unit length (dividing by at least ε),
/// scales queries, and stores keys and the decays a · softplus(alpha + dt_bias) at the tokens. A row of x has
/// the query heads, then key heads, then value heads.
struct PrepareHeads {
  States states;
  PlannedStates plan;
  Rows x, alpha;
  Slice a, dt_bias;  ///< [value_heads]
  std::size_t key_heads, value_heads, dim;
  float epsilon, query_scale;
};

/// For each row and key head, computes the dot products of the key of the i-th token since the row's state
/// with the row's key and with its query. Writes `out`: [row][head][2][grid_tokens].
struct MultiplyKeys {
  States states;
  PlannedStates plan;
  Rows queries;
  std::size_t key_heads, dim;
  Slice out;
};

/// Applies the delta rule to all rows of each sequence in order, using the products from MultiplyKeys. Writes
/// the outputs o to `out`, the rows' state updates to the tokens, and the states that the pass computes. A
/// head's state is a matrix [key dimension][value dimension].
struct Recur {
  States states;
  PlannedStates plan;
  Slice products;
  Rows x, beta, out;  ///< x as in PrepareHeads
  std::size_t key_heads, value_heads, dim;
};

}  // namespace spectr::call
