#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "spectr/backend/device/device.h"
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

/// A matrix of weights: packed (weight_panels.h), or as it stands in the file where its format has no such
/// layout.
struct Weights {
  TensorType type;
  std::size_t rows, cols;
  Slice codes, scales = {}, factors = {};
};

/// Bytes of a number of keys or values. Requires: floats.
constexpr std::size_t number_bytes(KvType type) {
  return static_cast<std::size_t>(rule_of(type).bytes);
}

/// Where a layer's keys and values are in the pool of blocks of 64 slots. In a block each head has keys
/// [dim / 4][slot][4], then values [slot][dim].
struct Cache {
  Slice pool;
  std::size_t block_bytes;
  std::size_t layer;  ///< byte of a block at which the layer's heads begin
  std::size_t kv_heads, dim;
  KvType type;

  std::size_t head_bytes() const { return 128 * dim * number_bytes(type); }
};

/// What keeping a path does: a slot's numbers go to another slot, move after move. Each line is four numbers
/// of a slot (MoveLine); `moves` are `count` pairs of PoolSlots, and how many they are stands before them.
struct Move {
  Slice pool;
  std::size_t block_bytes, number_bytes;
  Slice lines;
  std::size_t line_count;
  Slice count, moves;
};

struct Copy {
  Rows to, from;
  std::size_t rows, cols;
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

/// in += added, where there is something to add; out = norm(in), each group of columns by itself, and
/// quantized where that is asked for (of one group). With `picked` row r reads row picked[r].
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

/// y = W x with quantized rows of x.
struct Product {
  Weights weights;
  QuantizedRows x;
  Rows y;
  std::size_t rows;  ///< of x
};

/// The same with weights and x in floats.
struct FloatProduct {
  Weights weights;
  Rows x, y;
  std::size_t rows;
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

/// What items of the pass's plan give (attention_rows.h), into `parts`: [row of an item][dim + 4].
struct Attend {
  Rows q;
  Cache cache;
  Slice items, listed, parts;
  std::size_t item_count;     ///< those that there may be: further ones have no rows
  std::size_t rows_together;  ///< that an item has at most
  std::size_t heads;
  float cap;  ///< of scores; 0: none
};

/// The parts of a row become its heads.
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

struct AnyCall : std::variant<Move, Copy, Add, Scale, Cap, Gate, Norm, Quantize, Product, FloatProduct, Turn,
                              Attend, Merge, Activate, Spread, WordLogits, Top, SumExp> {
  using variant::variant;
  const variant& get() const { return *this; }
  variant& get() { return *this; }
};

}  // namespace spectr::call
