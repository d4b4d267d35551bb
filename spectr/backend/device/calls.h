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

/// The kernel calls that passes consist of, as data: a device has a kernel for each, and the twins say what
/// it computes, bit for bit (tests/twins). Numbers are floats where nothing else is said.
namespace spectr::call {

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
