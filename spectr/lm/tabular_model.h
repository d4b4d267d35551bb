#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "spectr/lm/language_model.h"

namespace spectr {

/// A model given by a table: the distribution of the next token depends on the step and the last token,
/// P(x_n = y | x_{n−1} = x) = row(n, x)[y]. The first token of a sequence is the start, which is followed by
/// step 0. After the last step its rows are reused. Every decoder can be enumerated exactly with it.
class TabularModel final : public LanguageModel {
 public:
  /// `probabilities` has shape [steps, vocabulary, vocabulary]. Requires: numbers ≥ 0; each row sums to 1
  /// within 1e-7.
  TabularModel(std::size_t vocabulary, std::size_t steps, const std::vector<double>& probabilities);

  /// Returns rows of uniform random numbers, normalised. Drawn row by row, step by step, 53 bits each.
  static TabularModel random(std::size_t vocabulary, std::size_t steps, std::mt19937& generator);

  std::string_view name() const override { return "a table"; }
  std::size_t vocabulary() const override { return vocabulary_; }
  std::size_t context() const override { return std::numeric_limits<std::size_t>::max(); }
  /// Returns ln P of every row, with shape [steps, vocabulary, vocabulary].
  std::span<const double> log_rows() const { return logs_; }
  /// Returns ln P(· | last) at a step.
  std::span<const double> log_row(std::size_t step, Token last) const;
  /// Returns the row after the path to `node`, for TableSession.
  std::span<const double> row(std::span<const Token> sequence, const TokenTree& tree, NodeId node) const;

  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override;

 private:
  std::size_t vocabulary_;
  std::size_t steps_;
  std::vector<double> logs_;  // [steps, vocabulary, vocabulary]
};

/// Returns a uniform random number in [0, 1) with 53 bits, from two outputs of the generator.
double uniform53(std::mt19937& generator);

}  // namespace spectr
