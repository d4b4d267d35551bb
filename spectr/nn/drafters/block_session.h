#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "spectr/nn/drafters/drafter_session.h"

namespace spectr {

/// A sequence of a drafter that predicts a block in one pass (DFlash, DSpark). The pass is the same whatever
/// is drafted: a node's logits are those of the row of its depth, and where the drafter has transitions (a
/// Markov head, a selector) they depend on the node's own token, too. Of the sequence's tokens it keeps keys
/// and values of the target's states; the block's are dropped.
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
    std::vector<float> logits;  // of a drafter with transitions; empty: those of the row
    double confidence = 0.0;
  };

  Result<void> feed(std::span<const Token> text, std::size_t first, std::size_t end) override;
  void drop_tree() override;
  Result<void> score_block(std::span<const Token> text);
  Result<void> add_biases(const TokenTree& tree, NodeId first);
  void select(Token token, Node& node) const;
  const BlockSpec& block() const { return *model().spec().block; }
  std::size_t row_of(const Node& node) const { return block().first_row + node.depth; }

  std::size_t rows_;               // of a block
  HeldLogits pass_;                // of the block
  std::size_t scored_length_ = 0;  // tokens of the text behind which the block was scored; 0: none
  std::vector<Node> nodes_;        // scored nodes of the tree
};

}  // namespace spectr
