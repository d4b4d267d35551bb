#pragma once

#include <memory>
#include <utility>

#include "spectr/nn/ops.h"

namespace spectr {

/// Base class of decorators: forwards every call to other operations. A derived class overrides some of them.
class ForwardingOps : public Ops {
 public:
  explicit ForwardingOps(std::unique_ptr<Ops> ops) : ops_(std::move(ops)) {}

  bool upload(WeightId id, std::span<const std::byte> bytes) override { return ops_->upload(id, bytes); }
  void reserve(std::size_t rows) override { ops_->reserve(rows); }
  std::size_t bytes_of(WeightId id) const override { return ops_->bytes_of(id); }
  CacheId open_cache(const CacheSize& size) override { return ops_->open_cache(size); }
  void close_cache(CacheId cache) override { ops_->close_cache(cache); }
  void copy_cache(const CacheCopy& copy) override { ops_->copy_cache(copy); }
  std::size_t cache_bytes(const CacheSize& size) const override { return ops_->cache_bytes(size); }
  void begin(const PassBatch& batch) override { ops_->begin(batch); }
  void embed(const EmbedSpec& spec) override { ops_->embed(spec); }
  void norm(const NormSpec& spec, Buffer in, Buffer out) override { ops_->norm(spec, in, out); }
  void scale(Buffer buffer, float factor) override { ops_->scale(buffer, factor); }
  void add(Buffer to, Buffer from) override { ops_->add(to, from); }
  void add_norm(const NormSpec& spec) override { ops_->add_norm(spec); }
  void linear(LinearRole role, std::span<const LinearTarget> targets, Buffer in) override {
    ops_->linear(role, targets, in);
  }
  void gate(Buffer buffer, std::size_t cols, std::size_t gates) override { ops_->gate(buffer, cols, gates); }
  void attention(std::size_t layer) override { ops_->attention(layer); }
  void latent_queries(std::size_t layer) override { ops_->latent_queries(layer); }
  void latent_values(std::size_t layer) override { ops_->latent_values(layer); }
  void delta_net(std::size_t layer) override { ops_->delta_net(layer); }
  void short_convolution(std::size_t layer) override { ops_->short_convolution(layer); }
  void activate(const DenseSpec& spec) override { ops_->activate(spec); }
  std::size_t experts(const ExpertsSpec& spec, Buffer in) override { return ops_->experts(spec, in); }
  void layer_inputs(const LayerEmbeddingSpec& spec) override { ops_->layer_inputs(spec); }
  void layer_input(std::size_t layer) override { ops_->layer_input(layer); }
  void tap(Buffer from, std::size_t cols, std::size_t first) override { ops_->tap(from, cols, first); }
  void load_features() override { ops_->load_features(); }
  void join(const PairSpec& pair, const EmbedSpec& embed, Buffer state) override {
    ops_->join(pair, embed, state);
  }
  void store_keys(std::size_t layer) override { ops_->store_keys(layer); }
  void convolve(const BlockConvolutionSpec& spec, std::size_t side, Buffer buffer) override {
    ops_->convolve(spec, side, buffer);
  }
  std::span<float> numbers(Buffer buffer) override { return ops_->numbers(buffer); }
  void head(const HeadSpec& spec) override { ops_->head(spec); }
  Result<HeldLogits> finish() override { return ops_->finish(); }
  Result<void> check_alive() override { return ops_->check_alive(); }

 private:
  std::unique_ptr<Ops> ops_;
};

}  // namespace spectr
