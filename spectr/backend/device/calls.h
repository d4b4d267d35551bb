#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "spectr/backend/device/call_places.h"
#include "spectr/backend/device/expert_calls.h"
#include "spectr/backend/device/head_layout.h"
#include "spectr/backend/device/state_calls.h"
#include "spectr/nn/kv_type.h"
#include "spectr/nn/model_spec.h"

/// The kernel calls of a pass, as data. Every device has a kernel for each; reference kernels define the
/// results bit for bit (tests/twins). Numbers are f32 unless stated otherwise.
namespace spectr::call {

/// A layer's keys and values in the pool of blocks of 64 slots. Heads are contiguous; HeadLayout describes
/// each.
struct Cache {
  Slice pool;
  std::size_t block_bytes;
  std::size_t layer;  ///< byte offset of the layer's heads in a block
  std::size_t kv_heads, dim;
  KvTypes types;
  /// If > 0, the first value_dim numbers of a key are its value (MLA); 0: values are stored separately.
  std::size_t value_dim = 0;

  /// Returns the size of a value.
  std::size_t values() const { return value_dim > 0 ? value_dim : dim; }
  HeadLayout head() const {
    return {static_cast<int>(dim), static_cast<int>(values()), static_cast<int>(types.keys),
            static_cast<int>(types.values), value_dim > 0};
  }
  std::size_t head_bytes() const { return static_cast<std::size_t>(head().bytes); }
};
static_assert(static_cast<int>(KvType::f32) == 0 && static_cast<int>(KvType::f16) == 1 &&
              static_cast<int>(KvType::q8_0) == 2 && q8_dims == scale_dims);

/// Copies slots of the KV cache, one move after the other. Each line is one word of each slot (MoveLine).
/// `moves` are pairs (from, to) of PoolSlots; the int `count` is their number.
struct Move {
  Slice pool;
  std::size_t block_bytes;
  Slice lines;
  std::size_t line_count;
  Slice count, moves;
};

/// to = from, for the first columns of each head. Heads have the given strides, in numbers.
struct Copy {
  Rows to, from;
  std::size_t rows, cols;
  std::size_t heads = 1, to_head_stride = 0, from_head_stride = 0;
};

/// Computes to += from.
struct Add {
  Rows to, from;
  std::size_t rows, cols;
};

struct Scale {
  Rows x;
  std::size_t rows, cols;
  float factor;
};

/// Computes x = cap · tanh(x / cap).
struct Cap {
  Rows x;
  std::size_t rows, cols;
  float cap;
};

/// Computes x = x ⊙ σ(by). With one gate, it applies to all columns of a row.
struct Gate {
  Rows x, by;
  std::size_t rows, cols, gates;
};

inline constexpr std::size_t max_norm_columns = 32768;

/// Computes in += added, if given, then out = norm(in), separately for each group of columns. Also quantizes
/// the output if requested (one group only). If `picked` is given, row r reads row picked[r]. Requires: cols
/// ≤ max_norm_columns.
struct Norm {
  NormSpec::Kind kind;
  float epsilon;
  Slice weight, bias;  ///< [cols]; weights default to ones
  Rows in, added, out;
  Slice picked;  ///< [rows], int32
  std::size_t rows, groups, cols;
  QuantizedRows quantized = {};
};

struct Quantize {
  Rows in;
  std::size_t rows, cols;
  QuantizedRows quantized;
};

/// Computes y = W x for quantized rows x. All matrices have the same format and number of columns.
struct Product {
  struct Target {
    Weights weights;
    Rows y;
  };
  static constexpr std::size_t max_targets = 3;

  QuantizedRows x;
  std::size_t rows;  ///< of x
  std::vector<Target> targets;
  /// True if the next calls that read y sum its split-K parts (Device::max_parts).
  bool may_split = false;
};

/// Computes y = W x for floating-point weights and x.
struct FloatProduct {
  Weights weights;
  Rows x, y;
  std::size_t rows;
};

// Batched calls for several heads. Matrices of heads are contiguous by component (all codes, then all
// scales); the other operands have head strides in bytes.

struct QuantizeHeads {
  Quantize first;
  std::size_t heads, in_head_stride;
  std::size_t out_head_stride() const { return first.quantized.layout.bytes(); }
};

struct HeadProducts {
  Product first;
  std::size_t heads, y_head_stride;
  std::size_t x_head_stride() const { return first.x.layout.bytes(); }
};

struct FloatHeadProducts {
  FloatProduct first;
  std::size_t heads, x_head_stride, y_head_stride;
};

/// Applies RoPE: rotated = scale · rotated queries. Also writes the rotated keys, and the values, to the KV
/// cache, if there are any.
struct Rope {
  Rows q, k, v, rotated;
  std::size_t rows, heads;
  Cache cache;
  Slice angles;   ///< [rows][dims / 2] pairs (cosine, sine)
  Slice written;  ///< [rows] PoolSlots
  Slice scales;   ///< [rows], optional; replaces `scale`
  std::size_t first, dims;
  bool interleaved;
  float scale;
};

/// Computes partial attention results of the plan's items into `parts`: for each query of an item the value
/// sum, padded to a multiple of 4, the maximum score, the sum of weights, and two unused numbers.
struct Attend {
  Rows q;
  Cache cache;
  Slice items, listed, parts;
  std::size_t item_count;     ///< upper bound: items past the last have no rows
  std::size_t rows_together;  ///< maximum rows of an item
  std::size_t heads;
  float cap;  ///< soft cap of scores; 0: none
};

/// Returns the numbers per query in `parts` for values of `dim` numbers.
constexpr std::size_t part_numbers(std::size_t dim) {
  return (dim + 3) / 4 * 4 + 4;
}

/// Merges the partial results of each row's chunks into its heads, of `dim` numbers each.
struct Merge {
  Slice parts, plan;  ///< [rows] AttentionRows
  Slice sinks;        ///< [heads], optional
  Rows out;
  std::size_t rows, heads, kv_heads, dim;
  QuantizedRows quantized = {};
};

/// Computes out = act(gate) ⊙ up, or out = act(up) without a gate. `out` may alias either input.
struct Activate {
  Activation activation;
  float clamp;
  bool has_gate;
  Rows gate, up, out;
  std::size_t rows, cols;
  QuantizedRows quantized = {};
};

/// Expands shortlist logits to the vocabulary: out[r][j] = some[r][columns[j]], or −∞ if columns[j] is −1.
struct Spread {
  Rows some, out;
  Slice columns;  ///< [cols], int32
  std::size_t rows, cols;
};

/// Computes logits of extra tokens with a weight row each (ExtraToken): scale · (weights · x + bias), capped.
struct ExtraTokenLogits {
  Rows x, out;
  std::size_t rows;  ///< of x and out
  Slice words;       ///< [count] ExtraTokens; count is a multiple of 16
  std::size_t count;
  Rows weights;  ///< [place][cols], each row followed by its bias
  std::size_t cols;
  float scale, cap;  ///< cap 0: none
};

/// Segment size of reductions over a row of logits.
inline constexpr std::size_t segment = 1024;

/// One of the top-k tokens of a segment; token −1: none.
struct Best {
  float logit;
  std::int32_t token;
};

/// Computes the top k of each segment of rows: NaN and +∞ first, then by descending logit, then by ascending
/// token. Writes [row][segment][k] Bests. Requires: k ≤ segment.
struct Top {
  Rows x;
  std::size_t rows, size, k;
  Slice out;
};

/// Computes the maximum m and Σ e^(factor (x − m)) of each segment: [row][segment] pairs of f32.
struct SumExp {
  Rows x;
  std::size_t rows, size;
  float factor;
  Slice out;
};

struct AnyCall
    : std::variant<Move, Copy, Add, Scale, Cap, Gate, Norm, Quantize, Product, FloatProduct, QuantizeHeads,
                   HeadProducts, FloatHeadProducts, Rope, Attend, Merge, Activate, StoreInputs, Convolve,
                   PrepareHeads, MultiplyKeys, Recur, ChooseExperts, GroupExperts, ExpertProduct,
                   ExpertFloatProduct, AddChosen, Combine, Spread, ExtraTokenLogits, Top, SumExp> {
  using variant::variant;
  const variant& get() const { return *this; }
  variant& get() { return *this; }
};

}  // namespace spectr::call
