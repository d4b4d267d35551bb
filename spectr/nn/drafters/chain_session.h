#pragma once

#include <cstddef>
#include <vector>

#include "spectr/nn/drafters/drafter_session.h"

namespace spectr {

/// A sequence of a drafter whose rows are a token and a state (EAGLE-3): the row of the sequence's last token
/// gives the logits of the first draft and the state of the next row. A node of a tree is a row that attends
/// to the sequence and to its own ancestors; all nodes of a level are one pass. A drafter that reads the
/// target's cache has no keys: all rows stand at the position of the sequence's last token and attend to the
/// tokens before it. A sequence of one token has no state to draft from: its logits and those of its nodes
/// are all 0.
class ChainSession final : public DrafterSession {
 public:
  /// Throws std::bad_alloc.
  ChainSession(const TrainedDrafter& model, Session& target, const FollowSettings& settings);

  Result<void> score(std::span<const Token> text, const TokenTree& tree) override;
  Logits logits(NodeId node) const override;

 private:
  struct Row {
    HeldLogits pass;
    std::size_t wanted = 0;    // index of its logits in the pass
    std::vector<float> state;  // state that its children read
    bool is_computed = false;
  };

  Result<void> feed(std::span<const Token> text, std::size_t first, std::size_t end) override;
  void drop_tree() override;
  Result<void> score_level(std::size_t length, const TokenTree& tree, std::span<const NodeId> level);
  void take(NodeId node, const HeldLogits& pass, std::size_t wanted, std::size_t row);

  std::vector<Row> rows_;         // by node
  std::vector<float> no_logits_;  // all 0, for a sequence without states
};

}  // namespace spectr
