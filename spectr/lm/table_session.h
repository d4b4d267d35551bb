#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/lm/language_model.h"

namespace spectr {

/// A session of a model whose rows are looked up. It computes and caches nothing, so any sequence may
/// follow any other, and an enumeration can restart without a rewind. Model::row(sequence, tree, node)
/// must return ln P(· | sequence and the path to node), valid as long as the model; the sequence is not
/// empty.
template <class Model>
class TableSession final : public Session {
 public:
  TableSession(const Model& model, std::size_t context) : model_(model), context_(context) {}

  Result<void> score(std::span<const Token> sequence, const TokenTree& tree) override {
    SPECTR_CHECK(!sequence.empty() && tree.token(TokenTree::root) == sequence.back());
    rows_.clear();
    std::size_t longest = sequence.size();
    for (NodeId node = 0; node < tree.size(); ++node) {
      const Token token = tree.token(node);
      if (token < 0 || static_cast<std::size_t>(token) >= model_.vocabulary())
        return error("token {} is outside the vocabulary of {}", token, model_.vocabulary());
      rows_.push_back(model_.row(sequence, tree, node));
      longest = std::max(longest, sequence.size() + static_cast<std::size_t>(tree.depth(node)));
    }
    if (longest > context_) {
      return error(ErrorCode::context_full, "text and draft have {} tokens, but the context holds {}",
                   longest, context_);
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
  const Model& model_;
  std::size_t context_;
  std::size_t length_ = 0;
  std::vector<std::span<const double>> rows_;  // by node
};

}  // namespace spectr
