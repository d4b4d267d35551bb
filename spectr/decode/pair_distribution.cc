#include "spectr/decode/pair_distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spectr/base/numeric.h"
#include "spectr/sampling/warp.h"

namespace spectr {
namespace {

constexpr double max_sequences = 1e6;
constexpr std::size_t max_horizon = 1000;  // a vocabulary of one token has one sequence of any length
constexpr double max_outcomes_of_block = 1e6;
constexpr double max_error_of_sum = 1e-6;

const LanguageModel& model_of(const TableModel& table) {
  return std::visit([](const auto& model) -> const LanguageModel& { return model; }, table);
}

/// Normalises a row in place. Fails if it is not a distribution.
Result<void> normalise(std::span<double> row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!std::isfinite(row[i]) || row[i] < 0.0) return error("[{}] is {}, not a probability", i, row[i]);
  }
  const double sum = sum_of(row);
  if (!(std::abs(sum - 1.0) <= max_error_of_sum))
    return error(" sums to {:.9g}, not to 1 within {}", sum, max_error_of_sum);
  for (double& p : row) p /= sum;
  return {};
}

}  // namespace

Result<TableModel> table_of_steps(std::string_view name, std::size_t vocabulary,
                                  std::span<const double> rows) {
  const std::size_t step = vocabulary * vocabulary;
  if (vocabulary == 0 || rows.empty() || rows.size() % step != 0)
    return error("{} must have rows [steps, V, V], got {} numbers for V = {}", name, rows.size(), vocabulary);
  std::vector<double> normalised(rows.begin(), rows.end());
  for (std::size_t begin = 0; begin < rows.size(); begin += vocabulary) {
    const auto done = normalise(std::span(normalised).subspan(begin, vocabulary));
    if (!done)
      return error("{}[{}][{}]{}", name, begin / step, begin % step / vocabulary, done.error().message);
  }
  return TabularModel(vocabulary, rows.size() / step, normalised);
}

Result<TableModel> table_of_prefixes(std::string_view name, std::size_t vocabulary,
                                     PrefixTableModel::Rows rows) {
  if (!rows.contains({})) return error("{} has no row for the empty prefix", name);
  for (auto& [prefix, row] : rows) {
    if (row.size() != vocabulary)
      return error("{}: the row of a prefix must have {} numbers, got {}", name, vocabulary, row.size());
    if (const auto done = normalise(row); !done)
      return error("{}: the row of a prefix of {} tokens{}", name, prefix.size(), done.error().message);
  }
  return PrefixTableModel(vocabulary, rows);
}

Result<PairDistribution> pair_distribution(std::string_view method, const MethodOptions& options,
                                           const TableModel& draft, const TableModel& target,
                                           std::size_t horizon, Token start) {
  const std::size_t vocabulary = model_of(target).vocabulary();
  SPECTR_TRY(const MethodRule* rule, find_method(method));
  if (start < 0 || static_cast<std::size_t>(start) >= vocabulary)
    return error("start must be a token below {}, got {}", vocabulary, start);
  if (horizon < 1) return error("horizon must be at least 1, got {}", horizon);
  const double sequences = std::pow(static_cast<double>(vocabulary), static_cast<double>(horizon));
  if (sequences > max_sequences) {
    return error("horizon: {} tokens of a vocabulary of {} give {:.3g} sequences, at most {:.0f} are allowed",
                 horizon, vocabulary, sequences, max_sequences);
  }
  if (horizon > max_horizon) return error("horizon must be at most {}, got {}", max_horizon, horizon);
  SPECTR_TRY(Decoder decoder, make_decoder(*rule, options));
  const std::vector<const LanguageModel*> drafts(std::min<std::size_t>(rule->models.max, 1),
                                                 &model_of(draft));
  SPECTR_TRY(const Warp warp, Warp::make(WarpOptions::none()));
  SPECTR_TRY(OwnedModels models,
             OwnedModels::start(model_of(target), drafts, warp, 0, decoder.max_nodes(horizon)));

  const bool markov =
      std::holds_alternative<TabularModel>(draft) && std::holds_alternative<TabularModel>(target);
  const Token prompt[] = {start};
  const EnumerationOptions enumeration{.horizon = horizon, .markov = markov};
  PairDistribution found;
  SPECTR_TRY(found.exact, enumerate_decoder(decoder, models, prompt, enumeration));
  SPECTR_TRY(const auto own, enumerate_target(models, prompt, enumeration));
  found.tv_error = total_variation(found.exact.distribution, own);
  const EnumerationOptions block{.horizon = std::max(decoder.shape().length, std::size_t{1}) + 1,
                                 .markov = false,
                                 .max_outcomes = max_outcomes_of_block};
  if (decoder.drafter().outcomes(vocabulary, block.horizon) <= max_outcomes_of_block) {
    if (const auto tokens = expected_block_tokens(decoder, models, prompt, block))
      found.expected_tokens_per_block = *tokens;
  }
  return found;
}

}  // namespace spectr
