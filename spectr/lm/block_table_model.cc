#include "spectr/lm/block_table_model.h"

#include <algorithm>

#include "spectr/lm/table_session.h"

namespace spectr {

BlockTableModel::BlockTableModel(const TabularModel& table, BlockRows rows)
    : kind_(rows), vocabulary_(table.vocabulary()) {
  const auto all = table.log_rows();
  append(rows == BlockRows::product ? all : all.first(vocabulary_ * vocabulary_));
}

BlockTableModel::BlockTableModel(const PrefixTableModel& table, BlockRows rows)
    : kind_(rows), vocabulary_(table.vocabulary()) {
  const auto start = table.log_row({});
  if (rows == BlockRows::product) {
    append(start);
    return;
  }
  start_.assign(start.begin(), start.end());
  for (std::size_t token = 0; token < vocabulary_; ++token) {
    const Token last[] = {static_cast<Token>(token)};
    append(table.log_row(last));
  }
}

std::span<const double> BlockTableModel::row(std::span<const Token> sequence, const TokenTree& tree,
                                             NodeId node) const {
  const bool at_start = sequence.size() == 1 && node == TokenTree::root;
  if (at_start && !start_.empty()) return start_;
  const auto depth = static_cast<std::size_t>(tree.depth(node));
  const std::size_t i = kind_ == BlockRows::product ? std::min(depth, logs_.size() / vocabulary_ - 1)
                                                    : static_cast<std::size_t>(tree.token(node));
  return std::span(logs_).subspan(i * vocabulary_, vocabulary_);
}

Result<std::unique_ptr<Session>> BlockTableModel::start(std::size_t context, std::size_t /*nodes*/) const {
  return std::make_unique<TableSession<BlockTableModel>>(*this, context == 0 ? this->context() : context);
}

}  // namespace spectr
