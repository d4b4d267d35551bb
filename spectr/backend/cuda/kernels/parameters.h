#pragma once

// Parameters of kernels, for host and device. What a kernel computes is described at the kernel.

#include <cstdint>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/expert_group.h"
#include "spectr/backend/device/extra_token.h"
#include "spectr/backend/device/head_layout.h"
#include "spectr/backend/device/state_rows.h"
#include "spectr/backend/device/weights/panel_format.h"

namespace spectr::cuda {

/// Quantized rows of x: blocks of 64 columns, tiles of 8 rows. If there are several slabs (QuantizedLayout),
/// row r is in slab r / 64.
struct QuantizedRows {
  std::uint8_t*
      codes;      ///< [block][tile][lane] × 16 bytes: lane 4 g + t has words t, 4 + t, 8 + t, 12 + t of row g
  float* scales;  ///< [block][tile][t][half][2]: a of rows 2 t and 2 t + 1
  float* sums;    ///< [block][tile][t][half][2]: Σ q
  int tiles;
  long slab = 0;  ///< slab stride in bytes, for each of the three
};

/// A matrix with a row stride in numbers. If it has several split-K parts, with stride `part_stride` in
/// numbers, its value is their pairwise sum.
struct Matrix {
  float* at;
  long stride;
  int parts = 1;  ///< 1, 2 or 4
  long part_stride = 0;
};

/// A weight matrix of a product, and the destination of its y.
struct ProductMatrix {
  const std::uint8_t* codes;     ///< [panel][block][…], in the panel layout of its format
  const std::uint32_t* scales;   ///< [panel][block][word][row 0 … 15]
  const std::uint32_t* factors;  ///< [panel][block / 4][row 0 … 15], if the format has factors
  float* y;                      ///< [part][row of x][row of W], with row stride `stride`
  long stride;
  int rows;   ///< of W
  int first;  ///< total panels of the preceding matrices
};

struct Product {
  ProductMatrix w[3];      ///< for missing ones, `first` is the number of all panels
  const std::uint8_t* x;   ///< [slab][block][tile of 8 rows][lane] × 16 bytes
  const float* x_scales;   ///< [slab][block][tile] × 16, see quantize.cuh
  const float* x_sums;     ///< [slab][block][tile] × 16: Σ q, if the format needs it
  std::uint32_t table[4];  ///< decoding table, if the format has one
  int panels, blocks;      ///< total panels of all matrices; blocks of 64 columns
  int n;                   ///< rows of x
  int slabs;               ///< of 64 rows of x; more than 1 only if x is streamed
  long slab;               ///< slab stride in bytes, of x, its scales, and its sums
  int ring;                ///< slots per lane, unless x is streamed
};

/// A quantized matrix in the layout of weight_panels.h.
struct Panels {
  const std::uint8_t* codes;
  const std::uint32_t *scales, *factors;
  PanelFormat format;
};

struct AnyProduct {
  Panels w;
  QuantizedRows x;
  Matrix y;
  int rows, blocks;
  int n;  ///< rows of x
};

struct FloatProduct {
  const std::uint8_t* weights;  ///< [rows][cols], in the file's layout
  Matrix x, y;
  int rows, cols, kind;  ///< kind 0: f32, 1: f16, 2: bf16
};

/// Batched products by head: each head has its own operands, at strides in bytes (of y: in numbers), and
/// `groups` blocks of the grid.
struct HeadProducts {
  AnyProduct first;
  int groups;
  long codes_head_stride, scales_head_stride, factors_head_stride, x_head_stride, y_head_stride;
};

struct FloatHeadProducts {
  FloatProduct first;
  int groups;
  long weights_head_stride, x_head_stride, y_head_stride;  ///< x and y: in numbers
};

/// A layer's attention. Items, rows and listed slots are constant during a pass, so kernels read them before
/// predecessors().
struct Attention {
  const float* q;  ///< [row][heads · D], rotated and scaled
  const std::uint8_t* pool;
  const AttentionItem* items;
  const PoolSlot* listed;
  float* parts;      ///< [row of an item][D + 4]: O, M, L
  long block_bytes;  ///< of the pool
  long layer;        ///< offset in a block, in bytes
  int heads, kv_heads;
  float cap;  ///< soft cap of scores: cap · tanh(score / cap); 0: none
};

struct Merge {
  const float* parts;
  const AttentionRow* rows;
  const float* sinks;  ///< [heads], or null
  float* y;            ///< [row][heads · D] with row stride `stride`, or null
  long stride;
  QuantizedRows out;  ///< optional: codes may be null
  int heads, kv_heads;
};

/// Attention with any HeadLayout.
struct AnyAttention {
  Attention of;
  HeadLayout head;
  int query_groups;  ///< thread blocks per KV head
};

struct AnyMerge {
  Merge of;
  int dim;
};

struct Rotate {
  Matrix q, k, v, rotated;  ///< no k: rotates queries only; no v: keys contain the values
  const float* angles;      ///< [row][dims / 2]: cosine and sine
  const PoolSlot* to;       ///< [row], destination of its key and value
  const float* scales;      ///< [row] scales of queries that replace `scale`, or null
  std::uint8_t* pool;
  long block_bytes, layer;  ///< as in Attention
  HeadLayout head;
  int heads;
  int first, dims;   ///< range of a head's dimensions that are rotated
  bool interleaved;  ///< pairs (2 i, 2 i + 1); otherwise (i, i + dims / 2)
  float scale;
};

/// in += added, if given; out = norm(in), where row r reads row picked[r] if `picked` is given.
struct Norm {
  Matrix in, added, out;
  const float *weight, *bias;  ///< [cols], or null
  const int* picked;
  int cols;
  float epsilon, part_of_mean;  ///< 1 / cols
  bool is_rms;
  QuantizedRows quantized;
};

/// x = x / √(mean x² + ε) · weight, separately for each of `groups` groups of columns.
struct HeadNorm {
  Matrix x;
  const float* weight;  ///< [cols], or null
  int groups, cols;
  float epsilon, part_of_mean;
};

/// Copies the first columns of each head; heads have the given strides in numbers.
struct Copy {
  Matrix to, from;
  int cols, heads;
  long to_head_stride, from_head_stride;
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

struct QuantizeHeads {
  Quantize first;
  int groups;
  long in_head_stride, out_head_stride;  ///< head strides, as in HeadProducts; of the input: in numbers
};

/// Chooses each row's experts by z. The values of `gating` are those of ExpertsSpec::Gating.
struct ChooseExperts {
  Matrix z;
  const float *bias, *scales;  ///< [experts], or null
  int* chosen;
  float* weights;  ///< `chosen` and `weights`: [row][used]
  int gating, experts, used, groups, groups_used;
  bool normalized;
  float weights_scale;
};

/// [slots] experts, of which the `blocks` from `first` on are on this device.
struct Choices {
  const int* chosen;
  int slots, first, blocks;
};

struct ExpertLists {
  ExpertGroup* groups;
  int* slots;  ///< of all groups, contiguous
};

struct GroupExperts {
  Choices choices;
  ExpertLists lists;
  int groups;
};

/// y = W x for the listed slots; slot s reads row s / sharers of x.
struct ExpertProduct {
  Panels w;  ///< of all experts, contiguous
  ExpertLists lists;
  QuantizedRows x;
  int sharers;
  Matrix y;
  int rows, blocks;  ///< of W; blocks of 64 columns
};

struct ExpertFloatProduct {
  FloatProduct product;  ///< the weights are those of all experts
  ExpertLists lists;
  int sharers;
};

/// Adds to each slot's row the vector of its chosen expert.
struct AddChosen {
  Choices choices;
  Matrix to;
  const float* from;  ///< [block][cols]
  int cols;
};

/// out = Σ w · in over a row's slots.
struct Combine {
  Choices choices;
  const float* weights;  ///< [slots]
  Matrix in, out;
  int used, cols;
};

/// Copies slots, one move after the other. A thread has a word of each slot. Grid: (lines / 128).
struct Move {
  std::uint8_t* pool;
  long block_bytes;
  const MoveLine* lines;
  int line_count;
  const int* count;
  const PoolSlot* moves;  ///< from, to
};

/// A recurrent layer's offsets in the pool of states, relative to a token and to a frame.
struct States {
  float* pool;
  int channels, kernel;               ///< of the convolution
  long inputs, keys, values, decays;  ///< offsets in a token
  long frame_inputs, frame_state;     ///< offsets in a frame
};

/// The plan of a pass's states, which is constant during the pass.
struct PlannedStates {
  const StateRow* rows;
  const StateStep* steps;
  const StateText* texts;
  int row_count;
};

struct StoreInputs {
  States states;
  PlannedStates plan;
  Matrix in, by;  ///< in ⊙ by, or in if there is no `by`
};

struct Convolve {
  States states;
  PlannedStates plan;
  const float* weight;  ///< [channels][kernel]
  Matrix factor, out;   ///< `factor` is optional
};

struct PrepareHeads {
  States states;
  PlannedStates plan;
  Matrix x, alpha;
  const float *a, *dt_bias;  ///< [heads of values]
  int key_heads, dim;
  float epsilon, query_scale;
};

struct MultiplyKeys {
  States states;
  PlannedStates plan;
  Matrix queries;
  float* out;  ///< [row][head][2][16]
  int key_heads, dim;
};

struct Recur {
  States states;
  PlannedStates plan;
  const float* products;  ///< the output of MultiplyKeys
  Matrix x, beta, out;    ///< x: heads of queries, keys and values
  int key_heads, dim;
};

/// out[r][j] = some[r][columns[j]], or −∞ if columns[j] is −1.
struct Spread {
  Matrix some, out;
  const int* columns;
  int cols;
};

/// out[row][token] = scale · (weights[place] · x[row] + bias), capped; the bias follows the weights.
struct ExtraTokenLogits {
  Matrix x, out, weights;
  const ExtraToken* words;
  int cols;
  float scale, cap;  ///< cap 0: none
};

struct Best {
  float logit;
  int token;
};

/// Finds the k best of a segment: NaN and +∞ first, then larger logits, then lower tokens.
struct Top {
  Matrix x;
  int size, k;
  Best* out;  ///< [row][segment][k]; token −1: none
};

/// Computes the maximum m of a segment, and Σ e^(factor (x − m)) as a pairwise sum.
struct SumExp {
  Matrix x;
  int size;
  float factor;
  float* out;  ///< [row][segment] pairs
};

}  // namespace spectr::cuda
