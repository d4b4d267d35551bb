#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "spectr/lm/language_model.h"

namespace spectr {

/// A model given by a table: the distribution of the next token depends on the step and on the last token,
/// P(x_n = y | x_{n−1} = x) = row(n, x)[y]. The first token of a text is the start (step 0 follows it); past
/// the last step the last step's rows are used. With it every decoder can be enumerated exactly.
class TabularModel final : public LanguageModel {
 public:
  /// probabilities: [steps, vocabulary, vocabulary], numbers of at least 0. Requires: each row sums to 1
  /// within 1e-7.
  TabularModel(std::size_t vocabulary, std::size_t steps, const std::vector<double>& probabilities);

  /// Rows of uniform random numbers, normalised: row after row, step after step, 53 bits each.
  static TabularModel random(std::size_t vocabulary, std::size_t steps, std::mt19937& generator);

  std::string_view name() const override { return "a table"; }
  std::size_t vocabulary() const override { return vocabulary_; }
  std::size_t context() const override { return std::numeric_limits<std::size_t>::max(); }
  /// ln P of every row, [steps, vocabulary, vocabulary].
  std::span<const double> log_rows() const { return logs_; }
  /// log P(· | last) at a step.
  std::span<const double> log_row(std::size_t step, Token last) const;
  /// The row after the path to `node`, for TableSession.
  std::span<const double> row(std::span<const Token> sequence, const TokenTree& tree, NodeId node) const;

  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override;

 private:
  std::size_t vocabulary_;
  std::size_t steps_;
  std::vector<double> logs_;  // [steps, vocabulary, vocabulary]
};

/// A uniform random number in [0, 1) of 53 bits from two outputs of the generator.
double uniform53(std::mt19937& generator);

}  // namespace spectr
