#pragma once

// What kernels are told, for the host, too. What a kernel does with it stands above the kernel.

#include <cstdint>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/own_word.h"

namespace spectr::cuda {

/// x of a product: blocks of 64 columns, tiles of 8 rows. Row r of several slabs (QuantizedLayout) has its
/// place in slab r / 64.
struct QuantizedRows {
  std::uint8_t*
      codes;      ///< [block][tile][lane] × 16 bytes: lane 4 g + t has words t, 4 + t, 8 + t, 12 + t of row g
  float* scales;  ///< [block][tile][t][half][2]: a of the rows 2 t and 2 t + 1
  float* sums;    ///< the same of Σ q
  int tiles;
  long slab = 0;  ///< bytes from a slab to the next one, in each of the three
};

/// A matrix: row r begins `stride` numbers behind row r − 1.
struct Matrix {
  float* at;
  long stride;
};

struct Product {
  const std::uint8_t* codes;     ///< [panel][block][…], as its format has them
  const std::uint32_t* scales;   ///< [panel][block][row 0 … 15]
  const std::uint32_t* factors;  ///< [panel][block / 4][row 0 … 15], of formats that have them
  const std::uint8_t* x;         ///< [block][tile of 8 rows][lane] × 16 bytes
  const float* x_scales;         ///< [block][tile] × 16, see quantize.cuh
  const float* x_sums;           ///< the same of Σ q, for formats with minima
  float* y;                      ///< [part][row of x][row of W], rows of x `stride` numbers apart
  long stride;
  int rows, blocks;  ///< of W; blocks of 64 columns
  int n;             ///< rows of x
  int ring;          ///< slots of a lane
  bool late;         ///< lets the next kernel begin only when the last weights are on their way
};

struct AnyProduct {
  const std::uint8_t* codes;
  const std::uint32_t *scales, *factors;
  QuantizedRows x;
  Matrix y;
  int rows, blocks;
  int bits, offset;       ///< of codes; c − offset is what they stand for (of 8 bits: signed bytes)
  bool has_small_scales;  ///< bytes, times factors; otherwise halves
  bool has_min;           ///< small scales are of 32 columns and have minima; otherwise signed, of 16 columns
};

struct FloatProduct {
  const std::uint8_t* weights;  ///< [rows][cols], as the file has them
  Matrix x, y;
  int rows, cols, kind;  ///< 0: floats, 1: halves, 2: bfloat16
};

/// A layer's attention. Items, rows and listed slots do not change while kernels of the pass run: they are
/// read before predecessors().
struct Attention {
  const float* q;  ///< [row][heads · D], turned and scaled
  const std::uint8_t* pool;
  const AttentionItem* items;
  const PoolSlot* listed;
  float* parts;      ///< [row of an item][D + 4]: O, M, L
  long block_bytes;  ///< of the pool
  long layer;        ///< of a block, in bytes
  int heads, kv_heads;
  float cap;  ///< of scores: cap · tanh(score / cap); 0: none
};

struct Merge {
  const float* parts;
  const AttentionRow* rows;
  const float* sinks;  ///< [heads], or null
  float* y;            ///< [row][heads · D], rows `stride` numbers apart; or null
  long stride;
  QuantizedRows out;  ///< without codes: none
  int heads, kv_heads;
};

struct Rotate {
  Matrix q, k, v, turned;  ///< no k: only queries turn
  const float* angles;     ///< [row][dims / 2]: cosine and sine
  const PoolSlot* to;      ///< [row], where its key and value go
  const float* scales;     ///< [row], of queries, instead of `scale`; or null
  std::uint8_t* pool;
  long block_bytes, layer;  ///< as in Attention
  int heads, kv_heads, dim;
  int first, dims;   ///< dimensions of a head that turn
  bool interleaved;  ///< pairs (2 i, 2 i + 1); otherwise (i, i + dims / 2)
  float scale;
};

/// in += added, where there is something to add; out = norm(in), with `picked` of row picked[r].
struct Norm {
  Matrix in, added, out;
  const float *weight, *bias;  ///< [cols], or null
  const int* picked;
  int cols;
  float epsilon, part_of_mean;  ///< 1 / cols
  bool is_rms;
  QuantizedRows quantized;
};

struct Copy {
  Matrix to, from;
  int cols;
};

/// to += from.
struct Add {
  Matrix to, from;
  int cols;
};

struct Scale {
  Matrix x;
  int cols;
  float factor;
};

struct Cap {
  Matrix x;
  int cols;
  float cap;
};

/// x ⊙ σ(by).
struct Gate {
  Matrix x, by;
  int cols, gates;
};

struct Quantize {
  Matrix in;
  int cols;
  QuantizedRows out;
};

/// out = act(gate) ⊙ up; without a gate: out = act(up). The kinds are those of Activation.
struct Activate {
  Matrix gate, up, out;
  int cols, kind;
  float clamp;
  bool has_gate;
  QuantizedRows quantized;
};

/// Slots' numbers go to other slots, move after move; a thread has four numbers of each slot, halves: grid
/// (lines / 128).
struct Move {
  std::uint8_t* pool;
  long block_bytes;
  const MoveLine* lines;
  int line_count;
  const int* count;
  const PoolSlot* moves;  ///< from, to
};

/// out[r][j] = some[r][columns[j]], −∞ for −1.
struct Spread {
  Matrix some, out;
  const int* columns;
  int cols;
};

/// out[row][token] = scale · (weights[place] · x[row] + bias), capped; the bias stands behind the weights.
struct WordLogits {
  Matrix x, out, weights;
  const OwnWord* words;
  int cols;
  float scale, cap;  ///< 0: none
};

struct Best {
  float logit;
  int token;
};

/// The k best of a segment, best first: larger logits, then lower tokens; NaN and +∞ before all others.
struct Top {
  Matrix x;
  int size, k;
  Best* out;  ///< [row][segment][k]; no token: −1
};

/// The largest number m of a segment, and Σ e^(factor (x − m)) as a tree, neighbours first.
struct SumExp {
  Matrix x;
  int size;
  float factor;
  float* out;  ///< [row][segment] pairs
};

}  // namespace spectr::cuda
