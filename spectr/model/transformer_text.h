#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/model/forward.h"
#include "spectr/model/kv_cache.h"
#include "spectr/model/language_model.h"
#include "spectr/model/transformer.h"

namespace spectr {

/// A text in a transformer: which of its tokens and which nodes of the tree have keys and values in the
/// cache, and the logits of the nodes. It says which rows are missing; who runs them is left to the derived
/// session. Where running them throws, the text is as it was; where it ends with an error, the pieces of the
/// text that were computed until then stay.
class TransformerText : public Session {
 public:
  /// Requires: 1 ≤ context ≤ the model's. Throws std::bad_alloc where there is no memory for keys and values.
  TransformerText(const Transformer& model, std::size_t context, std::size_t nodes);

  /// Bytes of the keys and values of such a text. They are taken from the system as the text grows.
  static std::size_t cache_bytes(const Transformer& model, std::size_t context, std::size_t nodes);

  /// Most rows that one call of `plan` adds for trees of at most `nodes` nodes.
  static std::size_t most_rows(std::size_t nodes);

  Result<void> score(std::span<const Token> text, const TokenTree& tree) final;

  /// Appends the rows of the next pass: a piece of the text, or its end together with the nodes. Returns
  /// whether they complete the score of `tree`. They must be run before any other call. For `compute`.
  bool plan(std::span<const Token> text, const TokenTree& tree, std::vector<PassRow>& rows);

  const Transformer& model() const { return model_; }
  Logits logits(NodeId node) const override;
  void keep(std::span<const NodeId> path) override;
  void rewind(std::size_t length) override;
  std::string_view name() const override { return model_.config().file; }
  std::size_t length() const override { return length_; }
  std::size_t vocabulary() const override { return model_.vocabulary(); }
  std::size_t context() const override { return context_; }

 protected:
  /// Runs the rows that `plan` tells until they complete the score.
  virtual Result<void> compute(std::span<const Token> text, const TokenTree& tree) = 0;

 private:
  /// Whether text and tree may be scored: inside the context and the vocabulary.
  Result<void> check(std::span<const Token> text, const TokenTree& tree) const;
  PassRow text_row(std::span<const Token> text, std::size_t position);
  PassRow node_row(const TokenTree& tree, NodeId node);
  float* logits_of(NodeId node);

  const Transformer& model_;
  std::size_t context_;
  std::size_t most_nodes_;
  std::size_t length_ = 0;  // tokens of the text in the cache: slots 0 … length_−1
  NodeId scored_ = 0;       // nodes of the tree with logits; node n > 0 has slot length_ + n − 1
  KvCache cache_;
  std::unique_ptr<float[]> logits_;  // [most_nodes, vocabulary]: memory is taken as nodes are scored
  std::vector<RecycledVector<int>>
      paths_;  // by node: the slots from below the root to the node, of this block
};

}  // namespace spectr
