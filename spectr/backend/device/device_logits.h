#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/base/logits.h"
#include "spectr/base/result.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// The logits of a pass in a device's memory, and its features if the model has taps. Queries run on the
/// device for all rows of the pass at the first query; a row of logits is copied to the host only on request,
/// and so are the features, all at once. If the device fails, all numbers are NaN, and state() returns the
/// reason.
class DeviceLogits final : public PassLogits, public LogitRows {
 public:
  /// Maximum numbers of rows.
  struct Room {
    std::size_t logits, features = 0;
  };

  /// The device must outlive it. Throws std::bad_alloc.
  DeviceLogits(Room room, std::size_t vocabulary, Device& device, std::size_t feature_width = 0);

  Logits row(std::size_t i) const override { return {*this, i, vocabulary_}; }

  double at(std::size_t row, Token token) const override;
  void top(std::size_t row, std::size_t size, std::size_t k, RecycledVector<Candidate>& out) const override;
  double log_sum_exp(std::size_t row, std::size_t size, double temperature) const override;
  std::span<const float> values(std::size_t row) const override;
  Result<void> state() const override;

  std::span<const float> features(std::size_t row) const override;

  const Room& room() const { return room_; }
  /// Begins a pass with `rows` rows of logits and `feature_rows` of features. Drops all cached results, and
  /// returns the destination of the logits.
  call::Rows begin(std::size_t rows, std::size_t feature_rows = 0);
  /// Returns the destinations of the current pass.
  call::Rows logit_rows() const { return {{numbers_.get()}, vocabulary_}; }
  call::Rows feature_rows() const { return {{features_.get()}, feature_width_}; }
  /// Returns the number of rows copied to the host since the last pass.
  std::size_t fetched() const;

 private:
  /// Cached results for the first `size` numbers of all rows, by row and segment: top-k lists, or sums of
  /// exponentials for a factor. Empty if the device failed.
  struct Lists {
    std::size_t size, k;
    std::span<const call::Best> best;
  };
  struct Sums {
    struct Part {
      float most, sum;
    };
    std::size_t size;
    float factor;
    std::span<const Part> parts;
  };
  /// A row on the host.
  struct Row {
    std::unique_ptr<StagingMemory> memory;
    bool is_here = false;
  };

  Slice place(std::size_t row) const;
  std::span<const float> fetch(std::size_t row) const;
  std::span<float> numbers_here(std::size_t row) const;
  /// Keeps the first error of the pass. Returns true if there is none in `done`.
  bool succeeded(const Result<void>& done) const;
  /// Runs a call on the device and downloads `count` results from `answers_` to `here`, which grows if
  /// needed.
  template <class Answer>
  std::span<const Answer> ask(const call::AnyCall& call, std::size_t count,
                              std::unique_ptr<StagingMemory>& here) const;
  /// Returns cached results (lists may be longer than k), or computes them on the device.
  const Lists& lists(std::size_t size, std::size_t k) const;
  const Sums& sums(std::size_t size, float factor) const;

  Room room_;
  std::size_t vocabulary_, feature_width_;
  Device& device_;
  std::unique_ptr<DeviceMemory> numbers_, answers_, features_;
  mutable std::mutex mutex_;      // guards the members below: holders can be on any thread
  std::size_t row_count_ = 0;     // of the current pass
  std::size_t feature_rows_ = 0;  // of the current pass
  mutable bool features_are_here_ = false;
  mutable std::vector<Row> rows_;  // by row
  mutable std::unique_ptr<StagingMemory> lists_here_, sums_here_, features_here_;
  mutable std::optional<Lists> lists_;
  mutable std::optional<Sums> sums_;
  mutable Result<void> state_;
};

/// A pool of memory for the logits of passes, reused once a pass's logits are not held any more.
class DeviceLogitsPool {
 public:
  DeviceLogitsPool(std::size_t vocabulary, Device& device, std::size_t feature_width = 0)
      : vocabulary_(vocabulary), feature_width_(feature_width), device_(device) {}

  /// Returns the index of logits with this room that are not held. Sets `moved` if their memory was
  /// reallocated: with room for the next powers of two, so that widths that grow one by one reallocate it
  /// seldom. Throws std::bad_alloc.
  std::size_t take(DeviceLogits::Room room, bool& moved);
  DeviceLogits& operator[](std::size_t which) { return *all_[which]; }

 private:
  std::size_t vocabulary_, feature_width_;
  Device& device_;
  std::vector<std::unique_ptr<DeviceLogits>> all_;
};

}  // namespace spectr
