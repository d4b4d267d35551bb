#include "spectr/nn/kv_slots.h"

#include <algorithm>

#include "spectr/base/check.h"

namespace spectr {

void KvSlots::add_node(const TokenTree& tree, NodeId node, PassBatch& batch) {
  const std::size_t slot = length_ + static_cast<std::size_t>(node) - 1;
  const std::size_t position = length_ - 1 + static_cast<std::size_t>(tree.depth(node));
  RecycledVector<std::int32_t>& path = paths_[static_cast<std::size_t>(node)];
  path.clear();
  if (const NodeId parent = tree.parent(node); parent != TokenTree::root) {
    path = paths_[static_cast<std::size_t>(parent)];
  }
  path.push_back(static_cast<std::int32_t>(slot));
  written_ = std::max(written_, slot + 1);
  batch.add_row(tree.token(node), position, cache_, slot, length_, path);
}

KvSlots::Plan KvSlots::plan(std::span<const Token> text, const TokenTree& tree, PassBatch& batch,
                            std::size_t max_piece) {
  SPECTR_CHECK(max_piece >= 1);
  SPECTR_CHECK(static_cast<std::size_t>(tree.size()) <= paths_.size());
  const PassBatch::Mark before = batch.mark();
  const std::size_t length_before = length_;
  const NodeId scored_before = scored_;
  try {
    batch.moves.insert(batch.moves.end(), moves_.begin(), moves_.end());
    // The root's logits are those of the text's last token: recompute it if only its keys are left.
    if (length_ == text.size() && scored_ == 0) --length_;

    const std::size_t piece = std::min({text.size() - length_, text_rows, max_piece});
    const std::size_t first_row = batch.rows();
    if (piece > 0) scored_ = 0;
    written_ = std::max(written_, length_ + piece);
    for (std::size_t i = 0; i < piece; ++i, ++length_) {
      batch.add_row(text[length_], length_, cache_, length_, length_ + 1, {});
    }
    Plan plan{.complete = length_ == text.size(), .first_node = scored_};
    if (plan.complete) {
      if (piece > 0) batch.wanted.push_back(static_cast<std::int32_t>(batch.rows()) - 1);
      for (NodeId node = std::max<NodeId>(scored_, 1); node < tree.size(); ++node) {
        add_node(tree, node, batch);
        batch.wanted.push_back(static_cast<std::int32_t>(batch.rows()) - 1);
      }
      scored_ = tree.size();
    }
    if (frames_) frames_->plan(batch, cache_, first_row, length_, plan.complete && piece > 1);
    moves_.clear();
    return plan;
  } catch (...) {
    batch.cut(before);
    length_ = length_before;
    scored_ = scored_before;
    throw;
  }
}

void KvSlots::keep(std::span<const NodeId> path) {
  const std::size_t begin = length_;
  for (NodeId node : path) {
    if (node >= scored_) break;  // not computed yet; the next score computes it
    const std::size_t from = begin + static_cast<std::size_t>(node) - 1;
    if (from != length_) {
      moves_.push_back({cache_, static_cast<std::int32_t>(from), static_cast<std::int32_t>(length_)});
    }
    ++length_;
  }
  scored_ = 0;
}

/// Slot s of a layer with the window w is overwritten by slot s + w + kept or a later one. The next token
/// attends to the w − 1 tokens before it, and so does the last one, which may be computed again.
bool KvSlots::keeps(std::size_t length) const {
  if (kept_.shortest_window == 0) return true;
  return written_ <= kept_.shortest_window + kept_.kept || written_ <= length + kept_.kept;
}

// The first pending move has the lowest target, because moves follow the path.
void KvSlots::locate(std::size_t length, SequenceSlots& out) const {
  SPECTR_CHECK(length <= length_);
  out.cache = cache_;
  out.rest.clear();
  out.prefix = moves_.empty() ? length : std::min(length, static_cast<std::size_t>(moves_.front().to));
  for (std::size_t at = out.prefix; at < length; ++at) {
    const auto slot = static_cast<std::int32_t>(at);
    const auto move = std::ranges::find(moves_, slot, &SlotMove::to);
    out.rest.push_back(move == moves_.end() ? slot : move->from);
  }
}

void KvSlots::rewind(std::size_t length) {
  length_ = std::min(length_, length);
  if (frames_) length_ = frames_->rewind(length_);
  if (!keeps(length_)) length_ = frames_ ? frames_->rewind(0) : 0;
  if (length_ == 0) written_ = 0;
  scored_ = 0;
}

std::size_t KvSlots::copyable(std::size_t length) const {
  length = std::min(length, length_);
  // From the first slot with a pending move on, the cache has other contents.
  if (!moves_.empty()) length = std::min(length, static_cast<std::size_t>(moves_.front().to));
  if (frames_) length = frames_->copyable(length);
  return keeps(length) ? length : 0;
}

KvSlots::Kept KvSlots::kept(std::size_t length) const {
  // The rings of windows reflect all that the sequence has written, however short the kept prefix is.
  Kept kept{length, written_};
  if (frames_) kept.frames = frames_->kept(length);
  return kept;
}

void KvSlots::restore(const Kept& kept) {
  length_ = kept.length;
  written_ = kept.written;
  if (frames_) frames_->restore(kept.frames);
  scored_ = 0;
  moves_.clear();
}

std::size_t KvSlots::restorable(const Kept& kept, std::size_t length) const {
  KvSlots restored(cache_, 0, kept_);
  restored.restore(kept);
  return restored.copyable(length);
}

}  // namespace spectr
