#pragma once

#include <string_view>
#include <vector>

#include "spectr/nn/ops.h"
#include "spectr/nn/pass_profile.h"

namespace spectr {

/// Decorator that times the operations of a model and reports the time and the minimum work of each to a
/// profile, for one pass or several. The operations and the profile must outlive it. With an asynchronous
/// backend, time is attributed to the operation that waits.
class ProfiledOps final : public Ops {
 public:
  ProfiledOps(Ops& ops, const ModelSpec& spec, const KvTypes& kv, PassProfile& profile)
      : ops_(ops), spec_(spec), kv_(kv), profile_(profile) {}

  bool upload(WeightId id, std::span<const std::byte> bytes) override { return ops_.upload(id, bytes); }
  void reserve(std::size_t rows) override { ops_.reserve(rows); }
  std::size_t bytes_of(WeightId id) const override { return ops_.bytes_of(id); }
  CacheId open_cache(const CacheSize& size) override { return ops_.open_cache(size); }
  void close_cache(CacheId cache) override { ops_.close_cache(cache); }
  void copy_cache(const CacheCopy& copy) override { ops_.copy_cache(copy); }
  std::size_t cache_bytes(const CacheSize& size) const override { return ops_.cache_bytes(size); }

  void begin(const PassBatch& batch) override;
  void embed(const EmbedSpec& spec) override;
  void norm(const NormSpec& spec, Buffer in, Buffer out) override;
  void add(Buffer to, Buffer from) override;
  void scale(Buffer buffer, float factor) override;
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
  void tap(Buffer from, std::size_t cols, std::size_t first) override;
  void load_features() override;
  void join(const PairSpec& pair, const EmbedSpec& embed, Buffer state) override;
  void store_keys(std::size_t layer) override;
  void convolve(const BlockConvolutionSpec& spec, std::size_t side, Buffer buffer) override;
  void head(const HeadSpec& spec) override;
  Result<HeldLogits> finish() override;

 private:
  /// Returns the work of a product with `rows` rows.
  Work work_of(const LinearSpec& linear, std::size_t rows) const;
  std::string_view format_name(const LinearSpec& linear) const;
  void add_products(Operation operation, std::span<const LinearTarget> targets, std::size_t rows);
  Work attention_work(const AttentionSpec& spec) const;
  void add_heads(const std::vector<LinearSpec>& heads);

  Ops& ops_;
  const ModelSpec& spec_;
  KvTypes kv_;
  PassProfile& profile_;
  const PassBatch* batch_ = nullptr;
};

}  // namespace spectr
