#include "spectr/lm/prefix_table_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/lm/table_session.h"

namespace spectr {

PrefixTableModel::PrefixTableModel(std::size_t vocabulary, const Rows& rows) : vocabulary_(vocabulary) {
  SPECTR_CHECK(vocabulary >= 1 && rows.contains({}));
  for (const auto& [prefix, row] : rows) {
    SPECTR_CHECK(row.size() == vocabulary && std::ranges::all_of(row, [](double p) { return p >= 0.0; }));
    SPECTR_CHECK(std::abs(sum_of(row) - 1.0) <= 1e-6);
    std::vector<double>& logs = logs_[prefix];
    for (const double p : row) logs.push_back(std::log(p));
  }
}

std::span<const double> PrefixTableModel::log_row(std::span<const Token> prefix) const {
  for (std::size_t dropped = 0; dropped < prefix.size(); ++dropped) {
    const auto suffix = prefix.subspan(dropped);
    if (const auto at = logs_.find({suffix.begin(), suffix.end()}); at != logs_.end()) return at->second;
  }
  return logs_.at({});
}

std::span<const double> PrefixTableModel::row(std::span<const Token> sequence, const TokenTree& tree,
                                              NodeId node) const {
  std::vector<Token> prefix(sequence.begin() + 1, sequence.end());
  for (const NodeId step : tree.path(node)) prefix.push_back(tree.token(step));
  return log_row(prefix);
}

Result<std::unique_ptr<Session>> PrefixTableModel::start(std::size_t context, std::size_t /*nodes*/) const {
  return std::make_unique<TableSession<PrefixTableModel>>(*this, context == 0 ? this->context() : context);
}

}  // namespace spectr
