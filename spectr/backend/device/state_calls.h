#pragma once

#include <cstddef>

#include "spectr/backend/device/call_places.h"

/// Kernel calls of recurrent layers.
namespace spectr::call {

/// Where a recurrent layer's numbers are in the pool of states (StateMemory): behind the place of a token,
/// and behind that of a frame.
struct States {
  Slice pool;
  std::size_t channels, kernel;              ///< of the convolution
  std::size_t inputs, keys, values, decays;  ///< of a token
  std::size_t frame_inputs, frame_state;     ///< of a frame: [kernel − 1][channels], the latest first
};

/// What a pass's plan says of states (state_rows.h).
struct PlannedStates {
  Slice rows, steps, texts;
  std::size_t row_count;
  std::size_t step_count;  ///< those that there may be: further ones have no work
  std::size_t text_count;
};

/// The inputs of convolutions, in ⊙ by, or in, go to the rows' tokens; those of frames to the tokens before
/// states that restore them.
struct StoreInputs {
  States states;
  PlannedStates plan;
  Rows in, by;
};

/// out[c] = Σ_j w[c][j] · input[c] of the token kernel − 1 − j before the row's, times factor[c], where there
/// is one; nothing of tokens that there are not. States that become frames get the inputs of the tokens
/// before them.
struct Convolve {
  States states;
  PlannedStates plan;
  Slice weight;  ///< [channels][kernel]
  Rows factor, out;
};

/// x = silu(x); its heads of queries and of keys get the length 1 (or what they are divided by is ε), queries
/// are scaled, keys go to the tokens; and so do the decays a · softplus(alpha + dt_bias). x has the heads of
/// queries, of keys, and of values.
struct PrepareHeads {
  States states;
  PlannedStates plan;
  Rows x, alpha;
  Slice a, dt_bias;  ///< [value_heads]
  std::size_t key_heads, value_heads, dim;
  float epsilon, query_scale;
};

/// Of each row and head of keys, for the i-th token of its path since its state: its key times the row's key,
/// and times the row's query, into `out`: [row][head][2][grid_tokens].
struct MultiplyKeys {
  States states;
  PlannedStates plan;
  Rows queries;
  std::size_t key_heads, dim;
  Slice out;
};

/// The delta rule of all rows of each text, in order, by the products that MultiplyKeys gives: out = o, and
/// what the rows add to their states goes to the tokens. States of the pass are computed on the way; a head's
/// matrix is [key's dimension][value's dimension].
struct Recur {
  States states;
  PlannedStates plan;
  Slice products;
  Rows x, beta, out;  ///< x: as in PrepareHeads
  std::size_t key_heads, value_heads, dim;
};

}  // namespace spectr::call
