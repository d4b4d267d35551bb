#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/cpu/cpu_weights.h"
#include "spectr/backend/cpu/recurrent_store.h"
#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The inputs and the output of a DeltaNetSpec, with a row for every row of the pass.
struct DeltaNetBuffers {
  Span2d<float> qkv;          ///< [channels]
  Span2d<const float> z;      ///< [value_heads · head_dim]
  Span2d<float> beta, alpha;  ///< [value_heads]
  Span2d<float> out;          ///< [value_heads · head_dim]
};

/// The recurrent layers of a pass, and the states that sequences keep for them.
///
/// S is a head's state at the grid, a are the tokens of a row's path since then, ascending, t is the row's
/// own token, and G_a is the sum of g from the grid to a:
///   u_t = β_t (v_t − e^{G_t} Sᵀk_t − Σ_{a<t} e^{G_t − G_a} (k_a · k_t) u_a)
///   o_t = e^{G_t} Sᵀq_t + Σ_{a≤t} e^{G_t − G_a} (k_a · q_t) u_a
/// The next state of the grid, after its last token e, is e^{G_e} S + Σ_{a≤e} e^{G_e − G_a} k_a u_aᵀ. This
/// equals the recurrence (DeltaNetSpec) for sequences and trees, without a state per node. The k, u and G of
/// a token are kept and read by its successors.
class RecurrentPass {
 public:
  /// The weights and the pool must outlive it.
  RecurrentPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool);

  /// Reserves memory for `rows` rows. Throws std::bad_alloc, without effect.
  void reserve(std::size_t rows);

  /// Opens a cache. Throws std::bad_alloc.
  void open(CacheId cache, const CacheSize& size);
  void close(CacheId cache);
  void append_memory(CacheId cache, std::size_t slots, std::span<const std::int32_t> frames,
                     std::vector<std::span<std::byte>>& memory) const;
  std::size_t bytes(const CacheSize& size) const;

  /// Moves a slot. All moves must be executed before begin().
  void move(const SlotMove& move);
  /// Begins a pass. The batch must outlive it. Throws std::bad_alloc.
  void begin(const PassBatch& batch);

  /// Computes one layer. For the buffers, see Ops.
  void run(std::size_t layer, const DeltaNetSpec& spec, const DeltaNetBuffers& buffers);
  void run(std::size_t layer, const ShortConvolutionSpec& spec, Span2d<float> in, Span2d<float> out);

 private:
  RecurrentStore& store_of(CacheId cache) const { return *stores_[cache]; }
  RecurrentStore& store_of_row(std::size_t row) const { return store_of(batch_->caches[row]); }
  void read_frame_inputs(std::size_t layer);
  void keep_frame_inputs(std::size_t layer);
  void convolve(std::size_t layer, WeightId weight, std::size_t row, std::size_t begin,
                std::span<float> out) const;
  void prepare_heads(std::size_t layer, const DeltaNetSpec& spec, const DeltaNetBuffers& buffers);
  std::span<float> state_of(std::size_t layer, std::size_t state, std::size_t head, std::size_t thread) const;
  void advance(std::size_t layer, const DeltaNetSpec& spec, std::size_t head, std::size_t state,
               std::size_t thread) const;
  void run_head(std::size_t layer, const DeltaNetSpec& spec, const DeltaNetBuffers& buffers, std::size_t head,
                std::size_t thread);

  const CpuWeights& weights_;
  ThreadPool& pool_;
  std::vector<RecurrentSizes> sizes_;  // by layer
  bool is_recurrent_ = false;
  std::size_t max_head_state_ = 0, max_keys_ = 0;        // maximum over layers
  std::vector<std::unique_ptr<RecurrentStore>> stores_;  // by cache; null if closed
  std::unique_ptr<float[]> queries_;                     // [rows, max_keys_]
  std::vector<float> scratch_;                           // [threads, states, max_head_state_]
  std::size_t states_ = 0;                               // capacity of the scratch
  const PassBatch* batch_ = nullptr;
};

}  // namespace spectr
