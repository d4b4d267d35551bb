#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spectr/backend/device/cache_blocks.h"
#include "spectr/backend/device/device_experts.h"
#include "spectr/backend/device/device_logits.h"
#include "spectr/backend/device/pass_data.h"
#include "spectr/backend/device/state_memory.h"
#include "spectr/backend/device/weights/device_weights.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// A model's operations on a device. The first pass of each shape (PassShape)
/// records a list of kernel calls; later passes of that shape replay it with new
/// PassData.
class DeviceOps final : public Ops {
 public:
  /// The spec, and the pool that packs weights, if any, must outlive it. Throws std::bad_alloc.
  DeviceOps(const ModelSpec& spec, const KvTypes& kv, std::shared_ptr<Device> device, ThreadPool* pool);

  bool upload(WeightId id, std::span<const std::byte> bytes) override { return weights_.upload(id, bytes); }
  void reserve(std::size_t rows) override;
  std::size_t bytes_of(WeightId id) const override { return weights_.bytes_of(id); }
  CacheId open_cache(const CacheSize& size) override;
  void close_cache(CacheId cache) override;
  void copy_cache(const CacheCopy& copy) override;
  std::size_t cache_bytes(const CacheSize& size) const override {
    return blocks_.bytes(size) + states_.bytes(size);
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
  /// Returns an upper bound of the experts read, because only the device knows the choices.
  std::size_t experts(const ExpertsSpec& spec, Buffer in) override;
  void layer_inputs(const LayerEmbeddingSpec& spec) override;
  void layer_input(std::size_t layer) override;
  void tap(Buffer from, std::size_t cols, std::size_t first) override;
  void load_features() override;
  void join(const PairSpec& pair, const EmbedSpec& embed, Buffer state) override;
  void store_keys(std::size_t layer) override;
  void head(const HeadSpec& spec) override;
  Result<HeldLogits> finish() override;
  Result<void> check_alive() override { return device_->run(std::span<const call::AnyCall>()); }

 private:
  std::size_t cols(Buffer buffer) const { return cols_[static_cast<std::size_t>(buffer)]; }
  call::Rows view(Buffer buffer) const {
    return {{buffers_[static_cast<std::size_t>(buffer)].get()}, cols(buffer)};
  }
  void record(const call::AnyCall& call) {
    if (records_) calls_.push_back(call);
  }
  void record_norm(const NormSpec& spec, const call::Rows& in, const call::Rows& out);
  void record_group_norm(const std::optional<NormSpec>& spec, std::optional<float> epsilon, Buffer buffer,
                         std::size_t groups, std::size_t cols);
  /// Ensures that `memory` has at least `bytes` bytes; growing loses the contents. Throws std::bad_alloc.
  void have(std::unique_ptr<DeviceMemory>& memory, std::size_t bytes);
  /// Records the moves of the batch: the first calls of a pass.
  void record_moves();
  void record_state_moves();
  void store_and_convolve(std::size_t layer, WeightId weight, const call::Rows& in, const call::Rows& by,
                          const call::Rows& factor, const call::Rows& out);
  call::QuantizedRows quantized(const call::Rows& in, std::size_t rows, std::size_t cols);
  void split_products(std::initializer_list<Buffer> read);
  void product(const LinearSpec& linear, const call::Rows& in, const call::Rows& out, std::size_t rows);
  void expert_product(const ExpertsSpec& spec, const LinearSpec& first, const call::Rows& in,
                      const call::QuantizedRows& quantized, std::size_t sharers, const call::Rows& out);

  // device_attention.cc
  /// Returns the size of a value head in attention.
  static std::size_t value_dim(const AttentionSpec& a) { return a.latent ? a.latent->rank : a.head_dim; }
  /// Returns the bytes of quantized inputs of per-head products, maximum over all layers.
  std::size_t quantized_bytes_of_heads(std::size_t rows) const;
  void normalize_queries(const AttentionSpec& a);
  void normalize_keys(const AttentionSpec& a);
  /// Returns the call that rotates and stores a layer's keys, without queries.
  call::Rope rope(std::size_t layer) const;
  void multiply_heads(const std::vector<LinearSpec>& heads, const call::Rows& in, std::size_t in_head_stride,
                      const call::Rows& out, std::size_t out_head_stride);
  void spread(const HeadSpec& spec, const call::Rows& shortlist, const call::Rows& out);

  const ModelSpec& spec_;
  std::shared_ptr<Device> device_;
  DeviceWeights weights_;
  CacheBlocks blocks_;
  StateMemory states_;
  PassData data_;
  DeviceLogitsPool logits_;
  std::array<std::size_t, buffer_count> cols_;
  std::size_t quantized_cols_ = 0;  // columns of the widest input of a quantized product
  std::array<std::unique_ptr<DeviceMemory>, buffer_count> buffers_;
  std::unique_ptr<DeviceMemory> rotated_, quantized_, parts_, key_products_, shortlist_;
  DeviceExperts experts_;
  std::size_t heads_numbers_ = 0;  // maximum numbers of a row's partial attention results
  std::size_t key_heads_ = 0;      // maximum over recurrent layers
  std::size_t reserved_ = 0;

  struct Recorded {
    std::unique_ptr<Recording> recording;
    std::uint64_t last_used = 0;  // number of the latest pass that replayed it
  };
  std::map<PassShape, Recorded> recordings_;
  std::uint64_t passes_ = 0;        // passes run so far
  std::size_t recorded_pools_ = 0;  // reallocations of the pools at the time of recording
  PassShape shape_;                 // of the current pass
  bool records_ = false;            // true if the current shape has no recording yet
  std::vector<call::AnyCall> calls_;
  call::Rows quantized_rows_;  // the rows that quantized_ holds, while unchanged
};

}  // namespace spectr
