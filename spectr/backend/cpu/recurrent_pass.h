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

/// What a DeltaNetSpec reads, and where its output goes, a row for every row of the pass.
struct DeltaNetBuffers {
  Span2d<float> qkv;          ///< [channels]
  Span2d<const float> z;      ///< [value_heads · head_dim]
  Span2d<float> beta, alpha;  ///< [value_heads]
  Span2d<float> out;          ///< [value_heads · head_dim]
};

/// The recurrent layers of a pass's rows, and what the cache of each sequence keeps for them.
///
/// With the state S of a head at the grid and the tokens a of a row's path since, in ascending order, t the
/// row's own and G_a the sum of g from the grid to a:
///   u_t = β_t (v_t − e^{G_t} Sᵀk_t − Σ_{a<t} e^{G_t − G_a} (k_a · k_t) u_a)
///   o_t = e^{G_t} Sᵀq_t + Σ_{a≤t} e^{G_t − G_a} (k_a · q_t) u_a
/// and the next state of the grid, behind its last token e, is e^{G_e} S + Σ_{a≤e} e^{G_e − G_a} k_a u_aᵀ:
/// what the recurrence gives (DeltaNetSpec), for trees as for texts, without a state for each node. k, u and
/// G of a token are kept, and read by those that follow it.
class RecurrentPass {
 public:
  /// The weights and the pool must outlive it.
  RecurrentPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool);

  /// Memory for so many rows. Throws std::bad_alloc; all is as before then.
  void reserve(std::size_t rows);

  /// Throws std::bad_alloc.
  void open(CacheId cache, const CacheSize& size);
  void close(CacheId cache);
  void append_memory(CacheId cache, std::size_t slots, std::span<const std::int32_t> frames,
                     std::vector<std::span<std::byte>>& memory) const;
  std::size_t bytes(const CacheSize& size) const;

  /// Before a pass: moves first.
  void move(const SlotMove& move);
  /// Throws std::bad_alloc. The batch must live as long as the pass.
  void begin(const PassBatch& batch);

  /// One layer. `z`, `out`, …: see Ops.
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
  std::size_t max_head_state_ = 0, max_keys_ = 0;        // of all layers
  std::vector<std::unique_ptr<RecurrentStore>> stores_;  // by cache; null where it was closed
  std::unique_ptr<float[]> queries_;                     // [rows, max_keys_]
  std::vector<float> scratch_;                           // [threads, states, max_head_state_]
  std::size_t states_ = 0;                               // that the scratch has room for
  const PassBatch* batch_ = nullptr;
};

}  // namespace spectr
