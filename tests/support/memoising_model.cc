#include "tests/support/memoising_model.h"

#include <utility>

namespace spectr::test {
namespace {

class MemoisingSession final : public Session {
 public:
  MemoisingSession(const MemoisingModel& model, std::unique_ptr<Session> session)
      : model_(model), session_(std::move(session)) {}

  Result<void> score(std::span<const Token> text, const TokenTree& tree) override {
    rows_.clear();
    for (NodeId node = 0; node < tree.size(); ++node) {
      std::vector<Token> path(text.begin(), text.end());
      for (NodeId step : tree.path(node)) path.push_back(tree.token(step));
      SPECTR_TRY(const std::vector<double>* row, model_.logits(path, *session_));
      rows_.push_back(row);
    }
    length_ = text.size();
    return {};
  }

  Logits logits(NodeId node) const override {
    return std::span<const double>(*rows_[static_cast<std::size_t>(node)]);
  }
  void keep(std::span<const NodeId> path) override { length_ += path.size(); }
  void rewind(std::size_t length) override { length_ = length; }
  std::string_view name() const override { return session_->name(); }
  std::size_t length() const override { return length_; }
  std::size_t vocabulary() const override { return session_->vocabulary(); }
  std::size_t context() const override { return session_->context(); }

 private:
  const MemoisingModel& model_;
  std::unique_ptr<Session> session_;
  std::size_t length_ = 0;
  std::vector<const std::vector<double>*> rows_;  // by node
};

}  // namespace

Result<const std::vector<double>*> MemoisingModel::logits(const std::vector<Token>& text,
                                                          Session& session) const {
  auto at = known_.find(text);
  if (at == known_.end()) {
    session.rewind(0);
    SPECTR_TRY_VOID(session.score(text, TokenTree(text.back())));
    const Logits row = session.logits(TokenTree::root);
    std::vector<double> numbers(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) numbers[i] = row.at(static_cast<Token>(i));
    at = known_.emplace(text, std::move(numbers)).first;
  }
  return &at->second;
}

Result<std::unique_ptr<Session>> MemoisingModel::start(std::size_t context, std::size_t /*nodes*/) const {
  SPECTR_TRY(auto session, model_.start(context, 1));
  return std::make_unique<MemoisingSession>(*this, std::move(session));
}

}  // namespace spectr::test
