#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/decode/methods.h"
#include "spectr/lm/prefix_table_model.h"
#include "spectr/lm/tabular_model.h"

namespace spectr {

/// A model given by a table: rows by step and last token, or rows by prefix.
using TableModel = std::variant<TabularModel, PrefixTableModel>;

/// Makes a model of rows [steps, V, V] by step and last token; see TabularModel. Fails if the numbers are not
/// rows of probabilities, which must sum to 1 within 1e-6 and are normalised; `name` names the table.
Result<TableModel> table_of_steps(std::string_view name, std::size_t vocabulary,
                                  std::span<const double> rows);

/// Makes a model of rows [V] by prefix; see PrefixTableModel. Fails as table_of_steps() does, or if the row
/// of the empty prefix is missing.
Result<TableModel> table_of_prefixes(std::string_view name, std::size_t vocabulary,
                                     PrefixTableModel::Rows rows);

/// The exact distribution of a method's output for a pair of tables, and its cost.
struct PairDistribution {
  DecoderDistribution exact;
  double tv_error = 0.0;  ///< total variation distance to the target's own distribution
  /// Expected tokens of the first block of an endless sequence; nullopt if it has too many outcomes.
  std::optional<double> expected_tokens_per_block;
};

/// Enumerates sequences of `horizon` tokens after the token `start`, beginning with the first rows. Fails if
/// the method does not exist or needs anything but a draft model, or if there are more than 5e7 outcomes or
/// 1e6 sequences. Requires: both tables have the same vocabulary. Cost: that of enumerate_decoder().
Result<PairDistribution> pair_distribution(std::string_view method, const MethodOptions& options,
                                           const TableModel& draft, const TableModel& target,
                                           std::size_t horizon, Token start = 0);

}  // namespace spectr
