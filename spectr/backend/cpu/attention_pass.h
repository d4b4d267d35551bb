#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/cpu/cpu_weights.h"
#include "spectr/backend/cpu/kv_store.h"
#include "spectr/base/span2d.h"
#include "spectr/base/thread_pool.h"
#include "spectr/nn/model_spec.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The inputs and outputs of attention, with a row for every row of the pass.
struct AttentionBuffers {
  Span2d<float> query, key, value, attended;
};

/// Attention of a pass's rows, layer by layer. What layers share (RoPE angles, the grouping of queries) is
/// computed once per pass.
class AttentionPass {
 public:
  /// All arguments must outlive it.
  AttentionPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool);

  /// Reserves memory for `rows` rows. Throws std::bad_alloc, without effect.
  void reserve(std::size_t rows);

  /// Must be called before the layers of a pass. `stores` are indexed by CacheId. Both arguments must outlive
  /// the pass. Throws std::bad_alloc.
  void begin(const PassBatch& batch, std::span<const std::unique_ptr<KvStore>> stores);

  /// Normalizes queries and keys (if the layer has such norms), applies RoPE, stores keys and values, and
  /// attends. Requires: the layer has attention.
  void run(std::size_t layer, const AttentionBuffers& buffers);

  /// Normalizes and rotates keys, and stores them with their values: run() without queries. Requires: the
  /// layer has attention with its own keys and per-head norms.
  void store_keys(std::size_t layer, const AttentionBuffers& buffers) const;

 private:
  /// Queries of one KV head that attend together. Queries are numbered row by row: query i belongs to row i /
  /// (query heads per KV head).
  struct Job {
    std::size_t begin;
    std::size_t size;
  };
  /// RoPE angles of a pass's rows, for all layers with the same rope.
  struct Angles {
    RopeSpec rope;
    std::unique_ptr<float[]> cosines = nullptr, sines = nullptr;  // [reserved rows, dims / 2]
  };
  /// A layer, and the operands of its attention.
  struct Layer {
    std::size_t index;
    const AttentionSpec& spec;
    const Angles& angles;
    AttentionBuffers buffers;
    NormNumbers q_norm = {}, k_norm = {};  // of each head
  };

  KvStore& store_of(std::size_t row) const { return *stores_[batch_->caches[row]]; }
  void partition(std::size_t heads, std::size_t group);
  void normalize_vectors(const Layer& layer) const;
  void prepare(const Layer& layer, std::size_t kv_head) const;
  void prepare_key(const Layer& layer, std::size_t kv_head, std::size_t row) const;
  void rotate(const Layer& layer, std::size_t row, std::span<float> head) const;
  void attend(const Layer& layer, std::size_t kv_head, const Job& job, ReadFrom from,
              std::size_t thread) const;

  const ModelSpec& spec_;
  const CpuWeights& weights_;
  ThreadPool& pool_;
  std::size_t max_dim_ = 0;                 // maximum head size over layers
  std::vector<Angles> angles_;              // one per distinct rope
  std::vector<std::size_t> angles_of_;      // by layer
  std::vector<Job> jobs_;                   // the same for every KV head
  std::size_t jobs_heads_ = 0, group_ = 0;  // for which jobs_ was computed
  std::unique_ptr<float[]> scores_;         // [threads, thread_scores_]
  std::size_t thread_scores_ = 0;
  std::vector<float> ones_;  // [max_dim_]
  const PassBatch* batch_ = nullptr;
  std::span<const std::unique_ptr<KvStore>> stores_;
};

}  // namespace spectr
