#pragma once

#include <span>
#include <utility>
#include <vector>

#include "spectr/base/logits.h"

namespace spectr::test {

/// Rows on another device: they answer queries, and count how often a whole row is fetched.
class RemoteLogits final : public LogitRows {
 public:
  explicit RemoteLogits(std::vector<std::vector<float>> rows) : rows_(std::move(rows)) {}

  double at(std::size_t row, Token token) const override {
    return rows_[row][static_cast<std::size_t>(token)];
  }
  void top(std::size_t row, std::size_t size, std::size_t k, RecycledVector<Candidate>& out) const override {
    out = here(row, size).top(k);
  }
  double log_sum_exp(std::size_t row, std::size_t size, double temperature) const override {
    return here(row, size).log_sum_exp(temperature);
  }
  std::span<const float> values(std::size_t row) const override {
    ++fetched_;
    return rows_[row];
  }

  int fetched() const { return fetched_; }

 private:
  Logits here(std::size_t row, std::size_t size) const {
    return std::span<const float>(rows_[row]).first(size);
  }

  std::vector<std::vector<float>> rows_;
  mutable int fetched_ = 0;
};

}  // namespace spectr::test
