#pragma once

#include <cstddef>
#include <span>
#include <variant>

namespace spectr {

/// One row of unnormalised log-probabilities over a vocabulary, in the precision of its model: float from a
/// transformer, double (log p, −∞ for 0) from a tabular one. A view; the model's session owns the numbers.
class Logits {
 public:
  Logits(std::span<const float> row) : row_(row) {}   // NOLINT(google-explicit-constructor)
  Logits(std::span<const double> row) : row_(row) {}  // NOLINT(google-explicit-constructor)

  std::size_t size() const {
    return std::visit([](auto row) { return row.size(); }, row_);
  }
  /// Requires: i < size().
  double operator[](std::size_t i) const {
    return std::visit([i](auto row) { return static_cast<double>(row[i]); }, row_);
  }
  /// The first n entries: the tokens that two vocabularies share when one is padded. Requires: n ≤ size().
  Logits first(std::size_t n) const {
    return std::visit([n](auto row) { return Logits(row.first(n)); }, row_);
  }
  /// Calls f with the row in its own precision.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(static_cast<F&&>(f), row_);
  }

 private:
  std::variant<std::span<const float>, std::span<const double>> row_;
};

}  // namespace spectr
