#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/model/forward.h"
#include "spectr/model/kv_cache.h"
#include "spectr/model/language_model.h"
#include "spectr/model/transformer.h"

namespace spectr {

/// A session of a transformer: which tokens of the text and which nodes of the tree have keys and values in
/// the cache, and the logits of the nodes.
class TransformerSession final : public Session {
 public:
  TransformerSession(const Transformer& model, std::size_t context, std::size_t nodes);

  Result<void> score(std::span<const Token> text, const TokenTree& tree) override;
  Logits logits(NodeId node) const override;
  void keep(std::span<const NodeId> path) override;
  void rewind(std::size_t length) override;
  std::size_t length() const override { return length_; }
  std::size_t context() const override { return context_; }

 private:
  Result<void> check(std::span<const Token> text, const TokenTree& tree) const;
  PassRow text_row(std::span<const Token> text, std::size_t position) const;
  PassRow node_row(const TokenTree& tree, NodeId node) const;

  const Transformer& model_;
  std::size_t context_;
  std::size_t most_nodes_;
  std::size_t length_ = 0;  // tokens of the text in the cache: slots 0 … length_−1
  NodeId scored_ = 0;       // nodes of the tree with logits; node n > 0 has slot length_ + n − 1
  KvCache cache_;
  ForwardPass pass_;
  std::vector<PassRow> rows_;
  std::vector<float> logits_;  // [most_nodes, vocabulary]
};

}  // namespace spectr
