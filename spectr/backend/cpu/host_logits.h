#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/base/span2d.h"
#include "spectr/nn/ops.h"

namespace spectr {

/// Logits, and features of a pass's rows, in host memory.
class HostLogits final : public PassLogits {
 public:
  HostLogits(std::size_t max_rows, std::size_t vocabulary, std::size_t feature_width)
      : max_rows_(max_rows),
        vocabulary_(vocabulary),
        feature_width_(feature_width),
        numbers_(std::make_unique_for_overwrite<float[]>(max_rows * vocabulary)) {}

  Logits row(std::size_t i) const override {
    return std::span<const float>(numbers_.get() + i * vocabulary_, vocabulary_);
  }
  std::span<const float> features(std::size_t row) const override {
    return std::span(features_).subspan(row * feature_width_, feature_width_);
  }
  /// Returns writable features of `rows` rows. Throws std::bad_alloc.
  Span2d<float> feature_rows(std::size_t rows) {
    if (features_.size() < rows * feature_width_) features_.resize(rows * feature_width_);
    return {features_.data(), rows, feature_width_};
  }
  std::size_t max_rows() const { return max_rows_; }
  /// Returns the first `rows` rows of logits. Requires: rows ≤ max_rows().
  Span2d<float> rows(std::size_t rows) { return {numbers_.get(), rows, vocabulary_}; }

 private:
  std::size_t max_rows_, vocabulary_, feature_width_;
  std::unique_ptr<float[]> numbers_;
  std::vector<float> features_;  // [rows of the pass, feature_width_]
};

/// A pool of memory for the logits of passes, reused once a pass's logits are not held any more. Not
/// thread-safe.
class HostLogitsPool {
 public:
  explicit HostLogitsPool(std::size_t vocabulary, std::size_t feature_width = 0)
      : vocabulary_(vocabulary), feature_width_(feature_width) {}

  /// Returns logits that are not held, with room for at least `rows` rows. Throws std::bad_alloc.
  HostLogits& take(std::size_t rows);

 private:
  std::size_t vocabulary_, feature_width_;
  std::vector<std::unique_ptr<HostLogits>> all_;
};

}  // namespace spectr
