#pragma once

// What kernels are told, for the host, too. What a kernel does with it stands above the kernel.

#include <cstdint>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/expert_group.h"
#include "spectr/backend/device/head_layout.h"
#include "spectr/backend/device/own_word.h"
#include "spectr/backend/device/state_rows.h"
#include "spectr/backend/device/weights/panel_format.h"

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

/// A matrix: row r begins `stride` numbers behind row r − 1. In several parts, `apart` numbers one behind the
/// other, it is their sum, neighbours first: of y of a product that several groups of threads share.
struct Matrix {
  float* at;
  long stride;
  int parts = 1;  ///< 1, 2 or 4
  long apart = 0;
};

/// A matrix of a product, and where its y goes.
struct ProductMatrix {
  const std::uint8_t* codes;     ///< [panel][block][…], as its format has them
  const std::uint32_t* scales;   ///< [panel][block][word][row 0 … 15]
  const std::uint32_t* factors;  ///< [panel][block / 4][row 0 … 15], of formats that have them
  float* y;                      ///< [part][row of x][row of W], rows of x `stride` numbers apart
  long stride;
  int rows;   ///< of W
  int first;  ///< panels of the matrices before it
};

struct Product {
  ProductMatrix w[3];      ///< those that are missing begin behind all panels
  const std::uint8_t* x;   ///< [slab][block][tile of 8 rows][lane] × 16 bytes
  const float* x_scales;   ///< [slab][block][tile] × 16, see quantize.cuh
  const float* x_sums;     ///< the same of Σ q, for formats that take them
  std::uint32_t table[4];  ///< of formats whose codes are looked up
  int panels, blocks;      ///< of all matrices; blocks of 64 columns
  int n;                   ///< rows of x
  int slabs;               ///< of 64 rows of x: 1, but where x is streamed
  long slab;               ///< bytes from a slab to the next one, of x, its scales, and its sums
  int ring;                ///< slots of a lane, where x is not streamed
  bool late;               ///< lets the next kernel begin only when the last weights are on their way
};

/// A quantized matrix as weight_panels.h has it.
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
  const std::uint8_t* weights;  ///< [rows][cols], as the file has them
  Matrix x, y;
  int rows, cols, kind;  ///< 0: floats, 1: halves, 2: bfloat16
};

/// Products by head: each has its own of everything, so many bytes (of y: numbers) behind that of the head
/// before, and so many groups of the grid.
struct HeadProducts {
  AnyProduct first;
  int groups;
  long codes_apart, scales_apart, factors_apart, x_apart, y_apart;
};

struct FloatHeadProducts {
  FloatProduct first;
  int groups;
  long weights_apart, x_apart, y_apart;  ///< of x: numbers
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

/// Attention to keys and values as the layout says.
struct AnyAttention {
  Attention of;
  HeadLayout head;
  int query_groups;  ///< groups of threads for a head of keys
};

struct AnyMerge {
  Merge of;
  int dim;
};

struct Rotate {
  Matrix q, k, v, turned;  ///< no k: only queries turn; no v: keys have the values
  const float* angles;     ///< [row][dims / 2]: cosine and sine
  const PoolSlot* to;      ///< [row], where its key and value go
  const float* scales;     ///< [row], of queries, instead of `scale`; or null
  std::uint8_t* pool;
  long block_bytes, layer;  ///< as in Attention
  HeadLayout head;
  int heads;
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

/// x = x / √(mean x² + ε) · weight, each of `groups` groups of columns by itself.
struct HeadNorm {
  Matrix x;
  const float* weight;  ///< [cols], or null
  int groups, cols;
  float epsilon, part_of_mean;
};

/// Of each head its first columns; heads begin so many numbers apart.
struct Copy {
  Matrix to, from;
  int cols, heads;
  long to_apart, from_apart;
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
  long in_apart, out_apart;  ///< as in HeadProducts; of the input: numbers
};

/// The experts of each row by z. The kinds of gating are those of ExpertsSpec.
struct ChooseExperts {
  Matrix z;
  const float *bias, *scales;  ///< [experts], or null
  int* chosen;
  float* weights;  ///< [row][used], both
  int gating, experts, used, groups, groups_used;
  bool normalized;
  float weights_scale;
};

/// [slots] experts, of which the blocks from `first` on are here.
struct Choices {
  const int* chosen;
  int slots, first, blocks;
};

struct ExpertLists {
  ExpertGroup* groups;
  int* slots;  ///< of all groups
};

struct GroupExperts {
  Choices choices;
  ExpertLists lists;
  int groups;
};

/// y = W x of the listed slots; slot s has row s / sharers of x.
struct ExpertProduct {
  Panels w;  ///< of all blocks, one behind the other
  ExpertLists lists;
  QuantizedRows x;
  int sharers;
  Matrix y;
  int rows, blocks;  ///< of W; blocks of 64 columns
};

struct ExpertFloatProduct {
  FloatProduct product;  ///< with the weights of all blocks
  ExpertLists lists;
  int sharers;
};

/// to += the vector that a slot has chosen.
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

/// Slots' numbers go to other slots, move after move; a thread has a word of each slot: grid (lines / 128).
struct Move {
  std::uint8_t* pool;
  long block_bytes;
  const MoveLine* lines;
  int line_count;
  const int* count;
  const PoolSlot* moves;  ///< from, to
};

/// A recurrent layer's numbers in the pool of states: behind the place of a token, and of a frame.
struct States {
  float* pool;
  int channels, kernel;               ///< of the convolution
  long inputs, keys, values, decays;  ///< of a token
  long frame_inputs, frame_state;     ///< of a frame
};

/// What does not change while kernels of the pass run.
struct PlannedStates {
  const StateRow* rows;
  const StateStep* steps;
  const StateText* texts;
  int row_count;
};

struct StoreInputs {
  States states;
  PlannedStates plan;
  Matrix in, by;  ///< in ⊙ by; no `by`: in
};

struct Convolve {
  States states;
  PlannedStates plan;
  const float* weight;  ///< [channels][kernel]
  Matrix factor, out;   ///< no factor: none
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
  const float* products;  ///< of MultiplyKeys
  Matrix x, beta, out;    ///< x: heads of queries, keys and values
  int key_heads, dim;
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
