#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/base/thread_pool.h"

namespace spectr {

/// A model's weights on a device: matrices packed (weight_panels.h) or, of formats without such a layout, as
/// they stand in the file; vectors as floats. What rows are looked up in by a token or a position stays in
/// the file, on the host.
class DeviceWeights {
 public:
  /// All must outlive it. `pool`: packs matrices, where there is one. Throws std::bad_alloc.
  DeviceWeights(const ModelSpec& spec, Device& device, ThreadPool* pool);

  /// See Ops::upload.
  bool upload(WeightId id, std::span<const std::byte> bytes);
  /// What uploading takes, of all weights.
  static std::size_t bytes_of_all(const ModelSpec& spec);
  std::size_t bytes_of(WeightId id) const;

  call::Weights matrix(WeightId id) const;
  /// [cols]
  Slice vector(WeightId id) const { return {on_device_[id].get()}; }
  Slice vector(const std::optional<WeightId>& id) const { return id ? vector(*id) : Slice(); }
  /// [vocabulary], what is added to logits so that forbidden tokens have none; or none.
  Slice forbids() const { return {forbids_.get()}; }
  /// [vocabulary], integers: which of the shortlist's logits a token has, −1: none; or none.
  Slice columns() const { return {columns_.get()}; }
  /// A row of a table.
  void row(WeightId id, std::size_t i, std::span<float> out) const;

  const Result<void>& state() const { return state_; }

 private:
  const ModelSpec& spec_;
  Device& device_;
  ThreadPool* pool_;
  std::vector<std::unique_ptr<DeviceMemory>> on_device_;  // by weight
  std::vector<std::span<const std::byte>> on_host_;       // by weight: of tables
  std::unique_ptr<DeviceMemory> forbids_, columns_;
  Result<void> state_;  // of uploads
};

}  // namespace spectr
