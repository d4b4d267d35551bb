#include "spectr/nn/drafters/chain_session.h"

#include <cstdint>

#include "spectr/base/check.h"

namespace spectr {

ChainSession::ChainSession(const TrainedDrafter& model, Session& target, const FollowSettings& settings)
    : DrafterSession(model, target, settings, true, 0), rows_(settings.nodes) {}

void ChainSession::drop_tree() {
  for (Row& row : rows_) {
    row.pass = {};
    row.is_computed = false;
  }
  no_logits_.clear();
}

void ChainSession::take(NodeId node, const HeldLogits& pass, std::size_t wanted, std::size_t row) {
  const std::span<const float> state = pass.features(row);
  Row& taken = rows_[static_cast<std::size_t>(node)];
  taken.pass = pass;
  taken.wanted = wanted;
  taken.state.assign(state.begin(), state.end());
  taken.is_computed = true;
}

Result<void> ChainSession::feed(std::span<const Token> text, std::size_t first, std::size_t end) {
  const Features& features = *target().features();
  begin_batch(features.width(), model().spec().model.fusion.has_value());
  for (std::size_t i = first; i < end; ++i) {
    if (model().reads_target_cache()) {
      add_row_after_target(text[i + 1], i + 1, features.at(i));
    } else {
      add_row(text[i + 1], i, i, i + 1, {}, features.at(i));
    }
  }
  const bool is_last = end + 1 == text.size();
  if (is_last) want_last();
  SPECTR_TRY(const HeldLogits pass, run(TrainedDrafter::Pass::draft));
  if (is_last) take(TokenTree::root, pass, 0, end - first - 1);
  return {};
}

Result<void> ChainSession::score(std::span<const Token> text, const TokenTree& tree) {
  SPECTR_TRY_VOID(check(text, tree));
  SPECTR_CHECK(static_cast<std::size_t>(tree.size()) <= rows_.size());
  const std::size_t length = text.size() - 1;
  if (length == 0) {
    no_logits_.assign(vocabulary(), 0.0F);
    return {};
  }
  if (this->length() == length && !rows_.front().is_computed) forget_rows(length - 1);
  if (model().reads_target_cache()) skip_rows(length - 1);
  SPECTR_TRY_VOID(read(text, length));
  for (std::vector<NodeId> level;;) {
    level.clear();
    for (NodeId node = 1; node < tree.size(); ++node) {
      const bool is_next = !rows_[static_cast<std::size_t>(node)].is_computed &&
                           rows_[static_cast<std::size_t>(tree.parent(node))].is_computed;
      if (is_next) level.push_back(node);
    }
    if (level.empty()) return {};
    SPECTR_TRY_VOID(score_level(length, tree, level));
  }
}

Result<void> ChainSession::score_level(std::size_t length, const TokenTree& tree,
                                       std::span<const NodeId> level) {
  begin_batch(model().spec().model.pair->state_width, false);
  std::vector<std::int32_t> slots;  // slots of a node's path
  for (const NodeId node : level) {
    const std::span<const float> state = rows_[static_cast<std::size_t>(tree.parent(node))].state;
    if (model().reads_target_cache()) {
      add_row_after_target(tree.token(node), length, state);
      want_last();
      continue;
    }
    slots.clear();
    for (const NodeId above : tree.path(node))
      slots.push_back(static_cast<std::int32_t>(length) + static_cast<std::int32_t>(above) - 1);
    const std::size_t position = length - 1 + static_cast<std::size_t>(tree.depth(node));
    add_row(tree.token(node), position, static_cast<std::size_t>(slots.back()), length, slots, state);
    want_last();
  }
  SPECTR_TRY(const HeldLogits pass, run(TrainedDrafter::Pass::draft));
  for (std::size_t i = 0; i < level.size(); ++i) take(level[i], pass, i, i);
  return {};
}

Logits ChainSession::logits(NodeId node) const {
  if (!no_logits_.empty()) return std::span<const float>(no_logits_);
  const Row& row = rows_[static_cast<std::size_t>(node)];
  SPECTR_CHECK(row.is_computed);
  return row.pass.row(row.wanted);
}

}  // namespace spectr
