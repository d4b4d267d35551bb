#pragma once

#include <memory>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// A device-side cache of head rows for sequences' extra tokens (PassBatch::extra_tokens). A row is uploaded
/// when a pass first needs it. When the cache is full, all rows are evicted except those of the current
/// pass.
class ExtraHeadRows {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  ExtraHeadRows(const ModelSpec& spec, Device& device);

  /// Uploads the missing rows of a pass. Throws std::bad_alloc.
  void take(const PassBatch& batch);
  /// Returns the row index of a token. Requires: the last batch passed to take() has it as an extra token.
  int place(Token token) const { return places_[static_cast<std::size_t>(token)]; }
  /// Returns the rows: [place][width], each followed by its bias.
  call::Rows rows() const { return {{memory_.get()}, stride_}; }
  /// Returns how often the memory was reallocated.
  std::size_t times_moved() const { return times_moved_; }
  /// Returns the first error of the device.
  const Result<void>& state() const { return state_; }

 private:
  template <class Each>
  void for_each_missing(const PassBatch& batch, Each each);
  void forget_all(std::size_t needed);

  Device& device_;
  std::size_t width_, stride_;
  std::vector<int> places_;  // by token; −1: not cached
  std::unique_ptr<DeviceMemory> memory_;
  std::size_t room_ = 0, used_ = 0;  // in rows
  std::size_t times_moved_ = 0;
  std::vector<float> sent_;
  Result<void> state_;
};

}  // namespace spectr
