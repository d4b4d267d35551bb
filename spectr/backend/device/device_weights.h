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
  /// Bytes from one to the next of the matrices that the heads of latent attention have.
  std::size_t apart(const std::vector<LinearSpec>& heads) const;
  /// [cols]
  Slice vector(WeightId id) const { return at(id); }
  Slice vector(const std::optional<WeightId>& id) const { return id ? vector(*id) : Slice(); }
  /// [vocabulary], what is added to logits so that forbidden tokens have none; or none.
  Slice forbids() const { return {forbids_.get()}; }
  /// A row of a table.
  void row(WeightId id, std::size_t i, std::span<float> out) const;

  const Result<void>& state() const { return state_; }

 private:
  /// Where a weight lies, in a piece of memory that it may share with others.
  struct Place {
    std::size_t piece, offset = 0;
  };
  Slice at(WeightId id) const { return {pieces_[places_[id].piece].get(), places_[id].offset}; }
  void place_together(const std::vector<LinearSpec>& heads);

  const ModelSpec& spec_;
  Device& device_;
  ThreadPool* pool_;
  std::vector<Place> places_;             // by weight
  std::vector<std::size_t> piece_bytes_;  // by piece
  std::vector<std::unique_ptr<DeviceMemory>> pieces_;
  std::vector<std::span<const std::byte>> on_host_;  // by weight: of tables
  std::unique_ptr<DeviceMemory> forbids_;
  Result<void> state_;  // of uploads
};

}  // namespace spectr
