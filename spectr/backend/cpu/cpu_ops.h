#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/cpu/attention_pass.h"
#include "spectr/backend/cpu/cpu_weights.h"
#include "spectr/backend/cpu/experts_pass.h"
#include "spectr/backend/cpu/host_logits.h"
#include "spectr/backend/cpu/kernels/matmul.h"
#include "spectr/backend/cpu/kv_store.h"
#include "spectr/backend/cpu/latent_pass.h"
#include "spectr/backend/cpu/recurrent_pass.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// A model's operations on the CPU. Quantized matrices are repacked; other matrices refer to the file's
/// memory.
class CpuOps final : public Ops {
 public:
  CpuOps(const ModelSpec& spec, const KvTypes& kv, ThreadPool& pool);

  bool upload(WeightId id, std::span<const std::byte> bytes) override { return weights_.upload(id, bytes); }
  void reserve(std::size_t rows) override;
  std::size_t bytes_of(WeightId id) const override { return weights_.bytes_of(id); }
  CacheId open_cache(const CacheSize& size) override;
  void close_cache(CacheId cache) override;
  void copy_cache(const CacheCopy& copy) override;
  std::size_t cache_bytes(const CacheSize& size) const override {
    return kv_layout_.bytes(size) + recurrent_.bytes(size);
  }

  std::optional<CacheMemory> cache_memory(CacheId cache, std::size_t slots,
                                          std::span<const std::int32_t> frames) const override;
  std::size_t used_cache_bytes() const override { return kv_pool_.used_blocks() * kv_pool_.block_bytes(); }
  std::vector<SharedBlock> share_blocks(CacheId cache, std::size_t slots) override {
    return stores_[cache]->share(slots);
  }
  void take_blocks(CacheId cache, std::span<const SharedBlock> blocks, std::size_t slots) override {
    stores_[cache]->take(blocks, slots);
  }

  void begin(const PassBatch& batch) override;
  void embed(const EmbedSpec& spec) override;
  void norm(const NormSpec& spec, Buffer in, Buffer out) override;
  void scale(Buffer buffer, float factor) override;
  void add(Buffer to, Buffer from) override;
  void add_norm(const NormSpec& spec) override;
  void gate(Buffer buffer, std::size_t cols, std::size_t gates) override;
  void linear(LinearRole role, std::span<const LinearTarget> targets, Buffer in) override;
  void attention(std::size_t layer) override;
  void latent_queries(std::size_t layer) override;
  void latent_values(std::size_t layer) override;
  void delta_net(std::size_t layer) override;
  void short_convolution(std::size_t layer) override;
  void activate(const DenseSpec& spec) override;
  std::size_t experts(const ExpertsSpec& spec, Buffer in) override;
  void layer_inputs(const LayerEmbeddingSpec& spec) override;
  void layer_input(std::size_t layer) override;
  bool read_caches_of(const Ops& target) override;
  void tap(Buffer from, std::size_t cols, std::size_t first) override;
  void load_features() override;
  void join(const PairSpec& pair, const EmbedSpec& embed, Buffer state) override;
  void store_keys(std::size_t layer) override;
  void convolve(const BlockConvolutionSpec& spec, std::size_t side, Buffer buffer) override;
  std::span<float> numbers(Buffer buffer) override;
  void head(const HeadSpec& spec) override;
  Result<HeldLogits> finish() override;

 private:
  using Memory = std::array<std::unique_ptr<float[]>, buffer_count>;

  void own_slots(const PassBatch& batch);
  Span2d<float> view(Buffer buffer, std::size_t cols) const;
  Span2d<float> view(Buffer buffer) const { return view(buffer, cols_[static_cast<std::size_t>(buffer)]); }
  AttentionBuffers attention_buffers(const AttentionSpec& spec) const;
  void embed_row(const EmbedSpec& spec, std::size_t row, std::span<float> out) const;
  HostLogits& take_logits();
  void finish_logits(const HeadSpec& spec, Span2d<float> logits);
  void spread(const HeadSpec& spec, Span2d<const float> normed, Span2d<const float> shortlist,
              Span2d<float> out);

  const ModelSpec& spec_;
  ThreadPool& pool_;
  CpuWeights weights_;
  std::array<std::size_t, buffer_count> cols_;
  Memory buffers_;  // [reserved_, …]; pages are only committed once used
  std::size_t reserved_ = 0;
  MatmulScratch scratch_;
  std::vector<Product> products_;
  KvLayout kv_layout_;
  BlockPool kv_pool_;
  std::vector<std::unique_ptr<KvStore>> stores_;                          // by cache; null if closed
  const std::vector<std::unique_ptr<KvStore>>* target_stores_ = nullptr;  // read instead of stores_, if set
  AttentionPass attention_;
  LatentPass latent_;
  RecurrentPass recurrent_;
  ExpertsPass experts_;
  HostLogitsPool logits_pool_;
  std::vector<float> shortlist_logits_;

  const PassBatch* batch_ = nullptr;
  HostLogits* host_logits_ = nullptr;  // logits of the current pass, once taken
  HeldLogits logits_;                  // holds host_logits_
};

}  // namespace spectr
