#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "spectr/backend/device/calls.h"
#include "spectr/base/logits.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// The logits of a pass in a device's memory. Questions are answered there, for all rows of the pass when
/// the first one is asked about; a whole row comes to the host when somebody asks for it. Where the device is
/// lost all numbers are NaN, which no distribution takes.
class DeviceLogits final : public PassLogits, public LogitRows {
 public:
  /// The device must outlive it. Throws std::bad_alloc.
  DeviceLogits(std::size_t max_rows, std::size_t vocabulary, Device& device);

  Logits row(std::size_t i) const override { return {*this, i, vocabulary_}; }

  double at(std::size_t row, Token token) const override;
  void top(std::size_t row, std::size_t size, std::size_t k, RecycledVector<Candidate>& out) const override;
  double log_sum_exp(std::size_t row, std::size_t size, double temperature) const override;
  std::span<const float> values(std::size_t row) const override;

  std::size_t max_rows() const { return max_rows_; }
  /// Where a pass writes so many rows. What was brought here is forgotten.
  call::Rows begin(std::size_t rows);
  /// Rows that were brought to the host as a whole since the last pass.
  std::size_t fetched() const;

 private:
  /// Of the rows' first `size` numbers, by row and segment: lists of `k`, or Σ e^x by a factor. Empty where
  /// the device does not answer.
  struct Lists {
    std::size_t size, k;
    std::vector<call::Best> best;
  };
  struct Sums {
    struct Part {
      float most, sum;
    };
    std::size_t size;
    float factor;
    std::vector<Part> parts;
  };

  call::Rows numbers() const { return {{numbers_.get()}, vocabulary_}; }
  Slice place(std::size_t row) const;
  std::span<const float> fetch(std::size_t row) const;
  /// Runs a call and brings what it has written to `answers_`.
  template <class Answer>
  std::vector<Answer> ask(const call::AnyCall& call, std::size_t count) const;
  /// What was answered before (lists may be longer), or the device's answer.
  const Lists& lists(std::size_t size, std::size_t k) const;
  const Sums& sums(std::size_t size, float factor) const;

  std::size_t max_rows_, vocabulary_;
  Device& device_;
  std::unique_ptr<DeviceMemory> numbers_, answers_;
  mutable std::mutex mutex_;                      // of the following: holders may be on any threads
  std::size_t row_count_ = 0;                     // of the pass
  mutable std::vector<std::vector<float>> rows_;  // by row; empty where it has not been brought here
  mutable std::optional<Lists> lists_;
  mutable std::optional<Sums> sums_;
};

/// Memory for the logits of passes: as much as their wanted rows take, used again when nobody holds them.
class DeviceLogitsPool {
 public:
  DeviceLogitsPool(std::size_t vocabulary, Device& device) : vocabulary_(vocabulary), device_(device) {}

  /// Which logits can take so many rows and are held by nobody. `moved`: whether they lie elsewhere than
  /// before. Throws std::bad_alloc.
  std::size_t take(std::size_t rows, bool& moved);
  DeviceLogits& operator[](std::size_t which) { return *all_[which]; }

 private:
  std::size_t vocabulary_;
  Device& device_;
  std::vector<std::unique_ptr<DeviceLogits>> all_;
};

}  // namespace spectr
