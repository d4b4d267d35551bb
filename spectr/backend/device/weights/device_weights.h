#pragma once

#include <memory>
#include <span>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/base/thread_pool.h"

namespace spectr {

/// A model's weights on a device: quantized matrices packed (weight_panels.h), those in floats as they stand
/// in the file; vectors as floats. Those of a layer's heads or experts that stand for one another lie one
/// behind the other, codes behind codes. What rows are looked up in by a token or a position stays in the
/// file, on the host.
class DeviceWeights {
 public:
  /// All must outlive it. `pool`: packs matrices, where there is one. Throws std::bad_alloc.
  DeviceWeights(const ModelSpec& spec, Device& device, ThreadPool* pool);

  /// Whether all experts of each layer are alike but for their numbers. Error: the tensor that is not.
  static Result<void> check_experts(const ModelSpec& spec);

  /// See Ops::upload.
  bool upload(WeightId id, std::span<const std::byte> bytes);
  /// What uploading takes, of all weights.
  static std::size_t bytes_of_all(const ModelSpec& spec);
  std::size_t bytes_of(WeightId id) const;

  /// That of the first head has those of the others behind it.
  call::Weights matrix(WeightId id) const;
  /// A matrix of each of a layer's experts, by that of the first one.
  call::ExpertWeights matrices(WeightId first) const { return {matrix(first), places_[first].count}; }
  /// [cols]; of the first expert: [experts][cols]
  Slice vector(WeightId id) const { return part(id, 0, spec_.weight(id).cols * sizeof(float)); }
  Slice vector(const std::optional<WeightId>& id) const { return id ? vector(*id) : Slice(); }
  /// [vocabulary], what is added to logits so that forbidden tokens have none; or none.
  Slice forbids() const { return {forbids_.get()}; }
  /// [vocabulary], integers: which of the shortlist's logits a token has, −1: none; or none.
  Slice columns() const { return {columns_.get()}; }
  /// A row of a table.
  void row(WeightId id, std::size_t i, std::span<float> out) const;

  const Result<void>& state() const { return state_; }

 private:
  /// Where a weight lies: in the memory of the weight `in`, as the `index`-th of `count`.
  struct Place {
    WeightId in;
    std::size_t index, count;
  };
  /// Of parts of `bytes` each, which begin behind `before` bytes of every weight.
  Slice part(WeightId id, std::size_t before, std::size_t bytes) const {
    const Place& place = places_[id];
    return {memory_[place.in].get(), place.count * before + place.index * bytes};
  }
  /// Those that stand for one another; all or none are there.
  void place_together(const std::vector<std::optional<WeightId>>& weights);

  const ModelSpec& spec_;
  Device& device_;
  ThreadPool* pool_;
  std::vector<Place> places_;                          // by weight
  std::vector<std::unique_ptr<DeviceMemory>> memory_;  // by weight
  std::vector<std::span<const std::byte>> on_host_;    // by weight: of tables
  std::unique_ptr<DeviceMemory> forbids_, columns_;
  Result<void> state_;  // of uploads
};

}  // namespace spectr
