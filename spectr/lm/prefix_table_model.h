#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/lm/language_model.h"

namespace spectr {

/// A model given by rows for whole prefixes: the distribution of the next token depends on all tokens after
/// the first one, which only starts the sequence. A prefix without a row uses the row of its longest suffix
/// that has one. The decoders of any pair of small models can thus be enumerated; TabularModel depends only
/// on the step and the last token.
class PrefixTableModel final : public LanguageModel {
 public:
  using Rows = std::map<std::vector<Token>, std::vector<double>>;

  /// Requires: a row for the empty prefix; each row has `vocabulary` numbers ≥ 0 and sums to 1 within
  /// 1e-6.
  PrefixTableModel(std::size_t vocabulary, const Rows& rows);

  std::string_view name() const override { return "a table"; }
  std::size_t vocabulary() const override { return vocabulary_; }
  std::size_t context() const override { return std::numeric_limits<std::size_t>::max(); }

  /// Returns ln P(· | prefix). Cost: O(length · log rows).
  std::span<const double> log_row(std::span<const Token> prefix) const;
  /// Returns the row after the path to `node`, for TableSession.
  std::span<const double> row(std::span<const Token> sequence, const TokenTree& tree, NodeId node) const;

  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override;

 private:
  std::size_t vocabulary_;
  Rows logs_;
};

}  // namespace spectr
