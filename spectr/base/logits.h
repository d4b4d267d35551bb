#pragma once

#include <cstddef>
#include <span>
#include <variant>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"

namespace spectr {

/// A token and its logit.
struct Candidate {
  double logit;
  Token token;
};

/// Larger logits first, ties by the lower id.
inline bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

/// The numbers of a row of logits, in the precision of their model: float from a transformer, double (log p,
/// −∞ for 0) from a table.
using LogitValues = std::variant<std::span<const float>, std::span<const double>>;

/// Rows of logits that lie elsewhere than in this process's memory, on a device or with another process: each
/// question is answered there, so that kilobytes travel instead of rows. `size` is how many of a row's first
/// entries are meant. See Logits for what is asked.
class LogitRows {
 public:
  virtual ~LogitRows() = default;
  virtual double at(std::size_t row, Token token) const = 0;
  virtual void top(std::size_t row, std::size_t size, std::size_t k,
                   RecycledVector<Candidate>& out) const = 0;
  virtual double log_sum_exp(std::size_t row, std::size_t size, double temperature) const = 0;
  /// The whole row: brought here when it is first asked for, valid as long as this object.
  virtual std::span<const float> values(std::size_t row) const = 0;
};

/// One row of unnormalised log-probabilities over a vocabulary: a view, asked by question. The model's
/// session owns the numbers and says how long they are valid.
class Logits {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  Logits(std::span<const float> row) : row_(row), size_(row.size()) {}
  Logits(std::span<const double> row) : row_(row), size_(row.size()) {}
  // NOLINTEND(google-explicit-constructor)
  /// Row `row` of `rows`, which has `size` entries. `rows` must outlive it.
  Logits(const LogitRows& rows, std::size_t row, std::size_t size) : row_(Remote{&rows, row}), size_(size) {}

  std::size_t size() const { return size_; }
  /// The first n entries: the tokens that two vocabularies share when one is padded. Requires: n ≤ size().
  Logits first(std::size_t n) const;

  /// The logit of a token. Requires: 0 ≤ token < size().
  double at(Token token) const;

  /// The k likeliest tokens with logits above −∞ (all, where there are fewer), in order: larger logits first,
  /// ties by the lower id. Where a logit is NaN or +∞ the first such entry alone. Requires: k ≥ 1. Cost: one
  /// pass over the row, and sorting k.
  RecycledVector<Candidate> top(std::size_t k) const;

  /// log Σ exp(logit / temperature), off by at most 3e-6 for up to 2¹⁸ floats. Requires: size() ≥ 1, an entry
  /// above −∞, temperature > 0.
  double log_sum_exp(double temperature = 1.0) const;

  /// The whole row: for distributions without filters, which need every number.
  LogitValues values() const;

 private:
  struct Remote {
    const LogitRows* rows;
    std::size_t row;
  };
  using Row = std::variant<std::span<const float>, std::span<const double>, Remote>;

  Logits(Row row, std::size_t size) : row_(row), size_(size) {}

  Row row_;
  std::size_t size_;
};

}  // namespace spectr
