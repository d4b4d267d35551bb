#pragma once

#include <cstddef>
#include <span>
#include <variant>

#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/base/token.h"

namespace spectr {

/// A token and its logit.
struct Candidate {
  double logit;
  Token token;
};

/// Returns true if a comes before b: larger logits first, ties by the lower id.
inline bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

/// The values of a row of logits in the precision of their model: float for a transformer, double (log p, −∞
/// for p = 0) for a table.
using LogitValues = std::variant<std::span<const float>, std::span<const double>>;

/// Rows of logits outside this process's memory: on a device or in another process. Each query is answered
/// there, so that kilobytes are transferred instead of whole rows. Queries consider the first `size` entries
/// of a row. See Logits for their contracts.
class LogitRows {
 public:
  virtual ~LogitRows() = default;
  virtual double at(std::size_t row, Token token) const = 0;
  virtual void top(std::size_t row, std::size_t size, std::size_t k,
                   RecycledVector<Candidate>& out) const = 0;
  virtual double log_sum_exp(std::size_t row, std::size_t size, double temperature) const = 0;
  /// Returns the whole row. It is transferred on first use and stays valid as long as this object.
  virtual std::span<const float> values(std::size_t row) const = 0;
  /// Returns the error of the first query that failed. The answer of a failed query is NaN.
  virtual Result<void> state() const { return {}; }
};

/// A view of one row of unnormalised log-probabilities over a vocabulary, accessed by queries. The model's
/// session owns the values and documents how long they are valid.
class Logits {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  Logits(std::span<const float> row) : row_(row), size_(row.size()) {}
  Logits(std::span<const double> row) : row_(row), size_(row.size()) {}
  // NOLINTEND(google-explicit-constructor)
  /// A view of row `row` of `rows`, which has `size` entries. `rows` must outlive the view.
  Logits(const LogitRows& rows, std::size_t row, std::size_t size) : row_(Remote{&rows, row}), size_(size) {}

  std::size_t size() const { return size_; }
  /// Returns the first n entries, for a vocabulary that is padded in one of two models. Requires: n ≤ size().
  Logits first(std::size_t n) const;

  /// Returns the logit of a token. Requires: 0 ≤ token < size().
  double at(Token token) const;

  /// Returns the k likeliest tokens with logits above −∞ (or all, if there are fewer), in order: larger
  /// logits first, ties by the lower id. If a logit is NaN or +∞, returns only the first such entry.
  /// Requires: k ≥ 1. Cost: one pass over the row, and sorting k.
  RecycledVector<Candidate> top(std::size_t k) const;

  /// Returns log Σ exp(logit / temperature), with an error of at most 3e-6 for up to 2¹⁸ floats. Requires:
  /// size() ≥ 1, an entry above −∞, temperature > 0.
  double log_sum_exp(double temperature = 1.0) const;

  /// Returns the whole row. Needed for distributions without filters, which depend on every logit.
  LogitValues values() const;

  /// Returns the error because of which a query about this pass's logits was answered by NaN, if one failed.
  Result<void> state() const;

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
