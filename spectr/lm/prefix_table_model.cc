#include "spectr/lm/prefix_table_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

/// Looks rows up when they are asked for; so any sequence may follow any other.
class PrefixTableSession final : public Session {
 public:
  PrefixTableSession(const PrefixTableModel& model, std::size_t context) : model_(model), context_(context) {}

  Result<void> score(std::span<const Token> sequence, const TokenTree& tree) override {
    SPECTR_CHECK(!sequence.empty() && tree.token(TokenTree::root) == sequence.back());
    rows_.clear();
    for (NodeId node = 0; node < tree.size(); ++node) {
      std::vector<Token> prefix(sequence.begin() + 1, sequence.end());
      for (const NodeId step : tree.path(node)) prefix.push_back(tree.token(step));
      for (const Token token : prefix) {
        if (token < 0 || static_cast<std::size_t>(token) >= model_.vocabulary())
          return error("token {} is outside the vocabulary of {}", token, model_.vocabulary());
      }
      if (prefix.size() + 1 > context_) {
        return error(ErrorCode::context_full, "text and draft have {} tokens, but the context holds {}",
                     prefix.size() + 1, context_);
      }
      rows_.push_back(model_.log_row(prefix));
    }
    length_ = sequence.size();
    return {};
  }

  Logits logits(NodeId node) const override {
    SPECTR_CHECK(static_cast<std::size_t>(node) < rows_.size());
    return rows_[static_cast<std::size_t>(node)];
  }

  void keep(std::span<const NodeId> path) override {
    const auto is_scored = [this](NodeId node) { return static_cast<std::size_t>(node) < rows_.size(); };
    length_ += static_cast<std::size_t>(std::ranges::find_if_not(path, is_scored) - path.begin());
    rows_.clear();
  }
  void rewind(std::size_t length) override {
    length_ = std::min(length_, length);
    rows_.clear();
  }
  std::string_view name() const override { return model_.name(); }
  std::size_t length() const override { return length_; }
  std::size_t vocabulary() const override { return model_.vocabulary(); }
  std::size_t context() const override { return context_; }

 private:
  const PrefixTableModel& model_;
  std::size_t context_;
  std::size_t length_ = 0;
  std::vector<std::span<const double>> rows_;  // by node
};

}  // namespace

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

Result<std::unique_ptr<Session>> PrefixTableModel::start(std::size_t context, std::size_t /*nodes*/) const {
  return std::make_unique<PrefixTableSession>(*this, context == 0 ? this->context() : context);
}

}  // namespace spectr
