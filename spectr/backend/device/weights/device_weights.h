#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/base/thread_pool.h"

namespace spectr {

/// A model's weights on a device. Quantized matrices are packed (weight_panels.h), floating-point
/// matrices have the file's layout, and vectors are f32. Corresponding matrices of a layer's heads or
/// experts are contiguous by component (all codes, then all scales). Embedding tables stay on the host,
/// in the file.
class DeviceWeights {
 public:
  /// All arguments must outlive it. `pool`, if given, is used to pack matrices. Throws std::bad_alloc.
  DeviceWeights(const ModelSpec& spec, Device& device, ThreadPool* pool);

  /// Checks that all experts of a layer have the same tensor shapes and formats. Error: the deviating tensor.
  static Result<void> check_experts(const ModelSpec& spec);

  /// See Ops::upload.
  bool upload(WeightId id, std::span<const std::byte> bytes);
  /// Returns the bytes of all weights on a device.
  static std::size_t bytes_of_all(const ModelSpec& spec);
  std::size_t bytes_of(WeightId id) const;

  /// Returns a matrix. If it belongs to the first head of a group, the others' follow it.
  call::Weights matrix(WeightId id) const;
  /// Returns the matrices of all experts of a layer, given the first expert's.
  call::ExpertWeights matrices(WeightId first) const { return {matrix(first), places_[first].count}; }
  /// Returns [cols] numbers; for the first expert [experts][cols], which includes the others' vectors.
  Slice vector(WeightId id) const { return part(id, 0, spec_.weight(id).cols * sizeof(float)); }
  Slice vector(const std::optional<WeightId>& id) const { return id ? vector(*id) : Slice(); }
  /// Returns [vocabulary] summands of the logits that mask forbidden tokens with −∞; or none.
  Slice forbids() const { return {forbids_.get()}; }
  /// Returns [vocabulary] int32 indices of the tokens in the shortlist, −1: not in it; or none.
  Slice columns() const { return {columns_.get()}; }
  /// Dequantizes row i of an embedding table.
  void row(WeightId id, std::size_t i, std::span<float> out) const;

  const Result<void>& state() const { return state_; }

 private:
  /// The location of a weight: the `index`-th of `count` weights in the memory of weight `in`.
  struct Place {
    WeightId in;
    std::size_t index, count;
  };
  /// Returns a weight's component of `bytes` bytes, which follows `before` bytes of components per weight.
  Slice part(WeightId id, std::size_t before, std::size_t bytes) const {
    const Place& place = places_[id];
    return {memory_[place.in].get(), place.count * before + place.index * bytes};
  }
  /// Makes corresponding weights share one allocation. Requires: all or none of them exist.
  void place_together(const std::vector<std::optional<WeightId>>& weights);

  const ModelSpec& spec_;
  Device& device_;
  ThreadPool* pool_;
  std::vector<Place> places_;                          // by weight
  std::vector<std::unique_ptr<DeviceMemory>> memory_;  // by weight
  std::vector<std::span<const std::byte>> on_host_;    // by weight; embedding tables only
  std::unique_ptr<DeviceMemory> forbids_, columns_;
  Result<void> state_;  // the last upload error
};

}  // namespace spectr
