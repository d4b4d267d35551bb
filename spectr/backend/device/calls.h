#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/backend/device/device.h"
#include "spectr/backend/device/expert_group.h"
#include "spectr/backend/device/head_layout.h"
#include "spectr/backend/device/quantized_layout.h"
#include "spectr/gguf/tensor_type.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/model_spec.h"

/// The kernel calls that passes consist of, as data: a device has a kernel for each, and the twins say what
/// it computes, bit for bit (twins.h). Numbers are floats where nothing else is said.
namespace spectr::call {

/// A matrix: row r begins `stride` numbers behind row r − 1. With a stride of 0 all rows are the same.
struct Rows {
  Slice at;
  std::size_t stride = 0;
};

/// Rows quantized for products, as a QuantizedLayout says; or none.
struct QuantizedRows {
  Slice at;
  QuantizedLayout layout = {};
};

/// A matrix of weights: packed (weight_panels.h), or as it stands in the file where it is one of floats.
struct Weights {
  TensorType type;
  std::size_t rows, cols;
  Slice codes, scales = {}, factors = {};
};

/// Where a layer's keys and values are in the pool of blocks of 64 slots: head behind head, as HeadLayout
/// says.
struct Cache {
  Slice pool;
  std::size_t block_bytes;
  std::size_t layer;  ///< byte of a block at which the layer's heads begin
  std::size_t kv_heads, dim;
  KvTypes types;
  /// So many first numbers of a key are its value, and no others are kept; 0: values are kept beside keys.
  std::size_t value_dim = 0;

  /// Numbers of a value.
  std::size_t values() const { return value_dim > 0 ? value_dim : dim; }
  HeadLayout head() const {
    return {static_cast<int>(dim), static_cast<int>(values()), static_cast<int>(types.keys),
            static_cast<int>(types.values), value_dim > 0};
  }
  std::size_t head_bytes() const { return static_cast<std::size_t>(head().bytes); }
};
static_assert(static_cast<int>(KvType::f32) == 0 && static_cast<int>(KvType::f16) == 1 &&
              static_cast<int>(KvType::q8_0) == 2 && q8_dims == scale_dims);

/// What keeping a path does: a slot's numbers go to another slot, move after move. Each line is a word of
/// each slot (MoveLine); `moves` are `count` pairs of PoolSlots, and how many they are stands before them.
struct Move {
  Slice pool;
  std::size_t block_bytes;
  Slice lines;
  std::size_t line_count;
  Slice count, moves;
};

/// With several heads the first columns of each, which begin so many numbers apart.
struct Copy {
  Rows to, from;
  std::size_t rows, cols;
  std::size_t heads = 1, to_apart = 0, from_apart = 0;
};

/// to += from.
struct Add {
  Rows to, from;
  std::size_t rows, cols;
};

struct Scale {
  Rows x;
  std::size_t rows, cols;
  float factor;
};

/// x = cap · tanh(x / cap).
struct Cap {
  Rows x;
  std::size_t rows, cols;
  float cap;
};

/// x ⊙ σ(by); with one gate all columns of a row have that.
struct Gate {
  Rows x, by;
  std::size_t rows, cols, gates;
};

inline constexpr std::size_t most_norm_columns = 32768;

/// in += added, where there is something to add; out = norm(in), each group of columns by itself, and
/// quantized where that is asked for (of one group). With `picked` row r reads row picked[r]. Requires:
/// cols ≤ most_norm_columns.
struct Norm {
  NormSpec::Kind kind;
  float epsilon;
  Slice weight, bias;  ///< [cols]; no weight: ones
  Rows in, added, out;
  Slice picked;  ///< [rows], integers
  std::size_t rows, groups, cols;
  QuantizedRows quantized = {};
};

struct Quantize {
  Rows in;
  std::size_t rows, cols;
  QuantizedRows quantized;
};

/// y = W x with quantized rows of x: for matrices of one format, all of as many columns.
struct Product {
  struct Target {
    Weights weights;
    Rows y;
  };
  static constexpr std::size_t most_targets = 3;

  QuantizedRows x;
  std::size_t rows;  ///< of x
  std::vector<Target> targets;
  /// Whether what is called next and reads y adds what Device::most_parts() says.
  bool may_split = false;
};

/// y = W x with weights and x in floats.
struct FloatProduct {
  Weights weights;
  Rows x, y;
  std::size_t rows;
};

// What a call does for each of several heads, which have their own of everything: matrices codes behind
// codes, the rest so many bytes apart.

struct QuantizeHeads {
  Quantize first;
  std::size_t heads, in_apart;
  std::size_t out_apart() const { return first.quantized.layout.bytes(); }
};

struct HeadProducts {
  Product first;
  std::size_t heads, y_apart;
  std::size_t x_apart() const { return first.x.layout.bytes(); }
};

struct FloatHeadProducts {
  FloatProduct first;
  std::size_t heads, x_apart, y_apart;
};

/// turned = scale · queries, turned by their positions; keys, turned, and values go to the cache, where
/// there are some.
struct Turn {
  Rows q, k, v, turned;
  std::size_t rows, heads;
  Cache cache;
  Slice angles;   ///< [rows][dims / 2] pairs: cosine and sine
  Slice written;  ///< [rows] PoolSlots
  Slice scales;   ///< [rows], instead of `scale`; or none
  std::size_t first, dims;
  bool interleaved;
  float scale;
};

/// What items of the pass's plan give (attention_rows.h), into `parts`: of each query of an item the numbers
/// of a value, up to a multiple of 4, then the largest score and the sum of weights, and room for two more.
struct Attend {
  Rows q;
  Cache cache;
  Slice items, listed, parts;
  std::size_t item_count;     ///< those that there may be: further ones have no rows
  std::size_t rows_together;  ///< that an item has at most
  std::size_t heads;
  float cap;  ///< of scores; 0: none
};

/// Numbers of a query in `parts`, for values of so many.
constexpr std::size_t part_numbers(std::size_t dim) {
  return (dim + 3) / 4 * 4 + 4;
}

/// The parts of a row become its heads, of `dim` numbers each.
struct Merge {
  Slice parts, plan;  ///< [rows] AttentionRows
  Slice sinks;        ///< [heads], or none
  Rows out;
  std::size_t rows, heads, kv_heads, dim;
  QuantizedRows quantized = {};
};

/// out = act(gate) ⊙ up; without a gate: out = act(up). `out` may be one of them.
struct Activate {
  Activation activation;
  float clamp;
  bool has_gate;
  Rows gate, up, out;
  std::size_t rows, cols;
  QuantizedRows quantized = {};
};

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

/// The experts of each row by the router's outputs z, as ExpertsSpec says, the best one first, and what they
/// weigh. NaN comes behind all numbers. Sums over experts e are those of e mod 32 = 0 … 31, ascending, added
/// as a tree, neighbours first. Requires: at most most_experts.
struct ChooseExperts {
  ExpertsSpec::Gating gating;
  bool normalized;
  float weights_scale;
  Rows z;
  Slice bias, scales;  ///< [experts], or none
  std::size_t rows, experts, used, groups, groups_used;
  Slice chosen, weights;  ///< [rows][used], integers and floats
};
inline constexpr std::size_t most_experts = 4096;

/// What rows have chosen, by its slot: used · row + place. `chosen`: [slots] experts, of which the blocks
/// from `first` on are here; the others are left out.
struct Choices {
  Slice chosen;
  std::size_t slots, first, blocks;
};

/// Slots by what they have chosen: [groups] ExpertGroups, then [slots] integers, the slots of a group
/// ascending. Groups ascend by their blocks; behind them are groups without slots.
struct ExpertLists {
  Slice at;
  std::size_t groups, slots;

  std::size_t slots_at() const { return groups * sizeof(ExpertGroup); }
  std::size_t bytes() const { return slots_at() + slots * sizeof(std::int32_t); }
};

struct GroupExperts {
  Choices choices;
  ExpertLists lists;
};

/// A matrix of each block, alike but for their numbers: each of their parts lies one behind the other.
struct ExpertWeights {
  Weights each;  ///< parts of the first block
  std::size_t blocks;
};

/// y = W x of the listed slots, with the bits of Product: slot s has row s / `sharers` of x, and the matrix
/// that it has chosen.
struct ExpertProduct {
  ExpertWeights weights;
  ExpertLists lists;
  QuantizedRows x;
  std::size_t sharers;
  Rows y;
};

/// The same with weights and x in floats.
struct ExpertFloatProduct {
  ExpertWeights weights;
  ExpertLists lists;
  Rows x;
  std::size_t sharers;
  Rows y;
};

/// to += the vector, [blocks][cols], that a slot has chosen.
struct AddChosen {
  Choices choices;
  Rows to;  ///< by slot
  Slice from;
  std::size_t cols;
};

/// out = Σ w · in over a row's slots in their order, from 0 on.
struct Combine {
  Choices choices;
  Slice weights;  ///< [slots]
  Rows in;        ///< by slot
  Rows out;
  std::size_t rows, cols;
};

/// Logits of all tokens from those of some: out[r][j] = some[r][columns[j]], and −∞ where there is none (−1).
struct Spread {
  Rows some, out;
  Slice columns;  ///< [cols], integers
  std::size_t rows, cols;
};

/// Single logits, each by a row of weights of its own (OwnWord): scale · (weights · x + bias), capped.
struct WordLogits {
  Rows x, out;
  std::size_t rows;  ///< of x and out
  Slice words;       ///< [count] OwnWords, a multiple of 16
  std::size_t count;
  Rows weights;  ///< [place][cols], and the bias behind them
  std::size_t cols;
  float scale, cap;  ///< 0: none
};

/// Numbers of a row of logits that are looked at together.
inline constexpr std::size_t segment = 1024;

/// A token among the best of its segment; no token: −1.
struct Best {
  float logit;
  std::int32_t token;
};

/// The k best of each segment of rows, best first: larger logits first, then the lower token; NaN and +∞
/// before all others. Gives [row][segment][k] Bests. Requires: k ≤ segment.
struct Top {
  Rows x;
  std::size_t rows, size, k;
  Slice out;
};

/// Of each segment of rows the largest number m, and Σ e^(factor (x − m)): [row][segment] pairs of floats.
struct SumExp {
  Rows x;
  std::size_t rows, size;
  float factor;
  Slice out;
};

struct AnyCall
    : std::variant<Move, Copy, Add, Scale, Cap, Gate, Norm, Quantize, Product, FloatProduct, QuantizeHeads,
                   HeadProducts, FloatHeadProducts, Turn, Attend, Merge, Activate, StoreInputs, Convolve,
                   PrepareHeads, MultiplyKeys, Recur, ChooseExperts, GroupExperts, ExpertProduct,
                   ExpertFloatProduct, AddChosen, Combine, Spread, WordLogits, Top, SumExp> {
  using variant::variant;
  const variant& get() const { return *this; }
  variant& get() { return *this; }
};

}  // namespace spectr::call
