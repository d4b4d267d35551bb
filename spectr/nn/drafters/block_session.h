#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/nn/drafters/drafter_session.h"

namespace spectr {

/// A sequence of a drafter that predicts a block in one pass (DFlash, DSpark). The pass does not depend on
/// the drafted tokens: a node's logits are those of the row at its depth. If the drafter has transitions (a
/// Markov head, a selector), they also depend on the node's own token. The cache keeps keys and values of the
/// target's states for the sequence's tokens; those of the block are dropped.
class BlockSession final : public DrafterSession {
 public:
  /// Throws std::bad_alloc.
  BlockSession(const TrainedDrafter& model, Session& target, const FollowSettings& settings);

  Result<void> score(std::span<const Token> text, const TokenTree& tree) override;
  Logits logits(NodeId node) const override;
  Logits row_logits(NodeId node) const override;
  std::optional<double> confidence(NodeId node) const override;
  std::size_t max_depth() const override { return model().max_depth(rows_); }

 private:
  struct Node {
    std::size_t depth = 0;
    std::vector<float> logits;  // drafters with transitions only; empty: those of the row
    double confidence = 0.0;
  };

  Result<void> feed(std::span<const Token> text, std::size_t first, std::size_t end) override;
  void drop_tree() override;
  Result<void> score_block(std::span<const Token> text);
  Result<void> add_biases(const TokenTree& tree, NodeId first);
  void select(Token token, Node& node) const;
  const BlockSpec& block() const { return *model().spec().block; }
  std::size_t row_of(const Node& node) const { return block().first_row + node.depth; }

  std::size_t rows_;               // rows of a block
  HeldLogits pass_;                // pass over the block
  std::size_t scored_length_ = 0;  // length of the text that the block was scored after; 0: none
  std::vector<Node> nodes_;        // scored nodes of the tree
};

}  // namespace spectr
