#include "spectr/lm/tabular_model.h"

#include <algorithm>
#include <cmath>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/lm/table_session.h"

namespace spectr {

double uniform53(std::mt19937& generator) {
  const std::uint32_t high = generator() >> 5, low = generator() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

TabularModel::TabularModel(std::size_t vocabulary, std::size_t steps,
                           const std::vector<double>& probabilities)
    : vocabulary_(vocabulary), steps_(steps), logs_(probabilities.size()) {
  SPECTR_CHECK(vocabulary >= 1 && steps >= 1 && probabilities.size() == steps * vocabulary * vocabulary);
  for (std::size_t begin = 0; begin < probabilities.size(); begin += vocabulary) {
    const std::span row = std::span(probabilities).subspan(begin, vocabulary);
    SPECTR_CHECK(std::ranges::all_of(row, [](double p) { return p >= 0.0; }));
    SPECTR_CHECK(std::abs(sum_of(row) - 1.0) <= 1e-7);
  }
  std::ranges::transform(probabilities, logs_.begin(), [](double p) { return std::log(p); });
}

TabularModel TabularModel::random(std::size_t vocabulary, std::size_t steps, std::mt19937& generator) {
  std::vector<double> rows(steps * vocabulary * vocabulary);
  for (std::size_t begin = 0; begin < rows.size(); begin += vocabulary) {
    const std::span row = std::span(rows).subspan(begin, vocabulary);
    double total = 0.0;
    for (double& p : row) total += p = uniform53(generator);
    for (double& p : row) p /= total;
  }
  return {vocabulary, steps, rows};
}

std::span<const double> TabularModel::log_row(std::size_t step, Token last) const {
  const std::size_t row = std::min(step, steps_ - 1) * vocabulary_ + static_cast<std::size_t>(last);
  return std::span(logs_).subspan(row * vocabulary_, vocabulary_);
}

std::span<const double> TabularModel::row(std::span<const Token> sequence, const TokenTree& tree,
                                          NodeId node) const {
  return log_row(sequence.size() - 1 + static_cast<std::size_t>(tree.depth(node)), tree.token(node));
}

Result<std::unique_ptr<Session>> TabularModel::start(std::size_t context, std::size_t /*nodes*/) const {
  return std::make_unique<TableSession<TabularModel>>(*this, context == 0 ? this->context() : context);
}

}  // namespace spectr
