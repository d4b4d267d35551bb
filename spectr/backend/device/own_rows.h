#pragma once

#include <memory>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// Rows of the head's matrix for sequences' own tokens (PassBatch::own_words), on the device. A row is sent
/// when a pass first needs it and stays there; where there is no room for more, all are forgotten but those
/// of the pass at hand.
class OwnRows {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  OwnRows(const ModelSpec& spec, Device& device);

  /// Has the rows of a pass there. Throws std::bad_alloc.
  void take(const PassBatch& batch);
  /// Which of the rows a token has. Requires: the last pass that was taken has it among its own.
  int place(Token token) const { return places_[static_cast<std::size_t>(token)]; }
  /// [place][width], and the bias behind them.
  call::Rows rows() const { return {{memory_.get()}, stride_}; }
  /// How often they have come to lie elsewhere.
  std::size_t times_moved() const { return times_moved_; }
  /// The first error of the device.
  const Result<void>& state() const { return state_; }

 private:
  template <class Each>
  void for_each_missing(const PassBatch& batch, Each each);
  void forget_all(std::size_t needed);

  Device& device_;
  std::size_t width_, stride_;
  std::vector<int> places_;  // by token; −1: none
  std::unique_ptr<DeviceMemory> memory_;
  std::size_t room_ = 0, used_ = 0;  // rows
  std::size_t times_moved_ = 0;
  std::vector<float> sent_;
  Result<void> state_;
};

}  // namespace spectr
