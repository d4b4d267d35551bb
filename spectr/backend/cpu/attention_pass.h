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

/// What attention reads and writes, a row for every row of the pass.
struct AttentionBuffers {
  Span2d<float> query, key, value, attended;
};

/// Attention of a pass's rows, layer by layer: what all layers share (angles of rotary positions, who attends
/// together with whom) is prepared once.
class AttentionPass {
 public:
  /// All must outlive it.
  AttentionPass(const ModelSpec& spec, const CpuWeights& weights, ThreadPool& pool);

  /// Memory for so many rows. Throws std::bad_alloc; all is as before then.
  void reserve(std::size_t rows);

  /// Before the layers of a pass. `stores`: by CacheId. Both must live as long as the pass. Throws
  /// std::bad_alloc.
  void begin(const PassBatch& batch, std::span<const std::unique_ptr<KvStore>> stores);

  /// Normalizes (where the layer has such norms) and turns queries and keys, stores keys and values, and
  /// attends. Requires: the layer has attention.
  void run(std::size_t layer, const AttentionBuffers& buffers);

  /// Normalizes and rotates keys, and stores them with their values: run() without queries. Requires: the
  /// layer has attention with keys of its own and norms of each head.
  void store_keys(std::size_t layer, const AttentionBuffers& buffers) const;

 private:
  /// Queries of one head of keys that attend together, counted row after row: query i is of row
  /// i / (heads per head of keys).
  struct Job {
    std::size_t begin;
    std::size_t size;
  };
  /// Of a pass's rows, by the positions that layers with this rope have.
  struct Angles {
    RopeSpec rope;
    std::unique_ptr<float[]> cosines = nullptr, sines = nullptr;  // [reserved rows, dims / 2]
  };
  /// A layer, and what its rows meet before they attend.
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
  void turn(const Layer& layer, std::size_t row, std::span<float> head) const;
  void attend(const Layer& layer, std::size_t kv_head, const Job& job, ReadFrom from,
              std::size_t thread) const;

  const ModelSpec& spec_;
  const CpuWeights& weights_;
  ThreadPool& pool_;
  std::size_t max_dim_ = 0;                 // of all layers' heads
  std::vector<Angles> angles_;              // of every different rope
  std::vector<std::size_t> angles_of_;      // by layer
  std::vector<Job> jobs_;                   // of every head of keys
  std::size_t jobs_heads_ = 0, group_ = 0;  // that they were made for
  std::unique_ptr<float[]> scores_;         // [threads, thread_scores_]
  std::size_t thread_scores_ = 0;
  std::vector<float> ones_;  // [max_dim_]
  const PassBatch* batch_ = nullptr;
  std::span<const std::unique_ptr<KvStore>> stores_;
};

}  // namespace spectr
