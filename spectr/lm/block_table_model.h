#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/lm/language_model.h"
#include "spectr/lm/prefix_table_model.h"
#include "spectr/lm/tabular_model.h"

namespace spectr {

/// The context that a row of a block drafter depends on: its depth in the block, or the last token.
enum class BlockRows { product, markov };

/// A tabular stand-in for drafters that compute a whole block in one pass. Its rows come from a table of
/// another kind. Any decoder can run on it and be enumerated, as with any other draft model.
///
/// product: drafts at depth i = 1, 2, … of a block are drawn from row i, whatever precedes them, so a draft
/// sequence has a product distribution. markov: drafts are drawn from the row of the token before them.
class BlockTableModel final : public LanguageModel {
 public:
  /// product: row i is the i-th row of the table, ordered by step and then by last token; greater depths use
  /// the last row. markov: the rows of step 0 are used.
  BlockTableModel(const TabularModel& table, BlockRows rows);
  /// product: the row of the empty prefix is used at every depth. markov: the row of the empty prefix is used
  /// at the start of a sequence, and then those of prefixes of one token.
  BlockTableModel(const PrefixTableModel& table, BlockRows rows);

  std::string_view name() const override { return "a table"; }
  std::size_t vocabulary() const override { return vocabulary_; }
  std::size_t context() const override { return std::numeric_limits<std::size_t>::max(); }
  /// Returns the row after the path to `node`, for TableSession.
  std::span<const double> row(std::span<const Token> sequence, const TokenTree& tree, NodeId node) const;

  Result<std::unique_ptr<Session>> start(std::size_t context, std::size_t nodes) const override;

 private:
  void append(std::span<const double> log_row) { logs_.insert(logs_.end(), log_row.begin(), log_row.end()); }

  BlockRows kind_;
  std::size_t vocabulary_;
  std::vector<double> logs_;   // [depths or last tokens, vocabulary]
  std::vector<double> start_;  // markov: the row at the start of a sequence; empty if there is none
};

}  // namespace spectr
