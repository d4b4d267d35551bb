#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/lm/token_tree.h"
#include "spectr/nn/pass_batch.h"
#include "spectr/nn/state_frames.h"

namespace spectr {

/// What a model's layers keep: the shortest of their windows (0: none has one) and CacheSize::kept; and what
/// recurrent ones do, where it has such.
struct KeptSlots {
  std::size_t shortest_window = 0, kept = 0;
  std::optional<FrameCounts> frames = {};
};

/// Which tokens of a sequence, and which nodes of its tree, have keys and values in which slots of its cache.
///
/// Slots 0 … length−1 hold the sequence's tokens in order; node n > 0 of the tree has slot length + n − 1 and
/// attends to the sequence and to its own ancestors. Accepting a path moves its slots up behind the sequence,
/// as the first work of the next pass; the rest is simply overwritten. Plain bookkeeping: what the slots hold
/// is the backend's.
///
/// Layers with a window keep the window and so many of the latest slots (CacheSize::kept). Taking back more
/// than that would leave the next token without a part of its window, in each of these layers: then the
/// sequence is computed again from its beginning, on which every layer's keys depend. Of recurrent layers it
/// is computed again from the last state that was kept (see StateFrames).
class KvSlots {
 public:
  /// Rows of a pass over a long text: enough to be bound by arithmetic, little enough to stay in the cache.
  static constexpr std::size_t text_rows = 64;

  /// Tokens of the end that may be taken back without computing others again.
  static constexpr std::size_t spare_slots = 256;

  /// For trees of at most `nodes` nodes.
  KvSlots(CacheId cache, std::size_t nodes, const KeptSlots& kept = {})
      : cache_(cache), kept_(kept), paths_(nodes) {
    moves_.reserve(nodes);
    if (kept.frames) frames_.emplace(*kept.frames);
  }

  /// Most rows that one call of `plan` adds for trees of at most `nodes` nodes.
  static std::size_t max_rows(std::size_t nodes) { return nodes + text_rows; }

  /// Tokens of the sequence that have slots.
  std::size_t length() const { return length_; }
  /// Nodes of the tree that have slots or, of the root, logits.
  NodeId scored() const { return scored_; }

  /// What the next pass takes: its rows, whether they complete the score, and which nodes' logits it gives,
  /// in the order of the rows: those from first_node on.
  struct Plan {
    bool complete;
    NodeId first_node;
  };
  /// Appends moves and rows of the next pass over `text` and `tree` to the batch: a piece of the text, or its
  /// end together with the nodes that have none yet. The pass must follow before any other call; after one
  /// that failed once it had begun, rewind to what the sequence had before. Throws std::bad_alloc; then
  /// nothing is appended and nothing changed. A piece has at most `max_piece` ≥ 1 tokens.
  Plan plan(std::span<const Token> text, const TokenTree& tree, PassBatch& batch,
            std::size_t max_piece = text_rows);

  /// The nodes of `path` become the sequence's next tokens; all others are dropped.
  void keep(std::span<const NodeId> path);
  /// Forgets all tokens behind the first `length`, and the tree; more tokens where layers no longer keep what
  /// the next one needs.
  void rewind(std::size_t length);

  /// How many of the first `length` tokens another cache can take over. Requires: no pass is under way.
  std::size_t copyable(std::size_t length) const;

  /// The beginning of a sequence, apart from any cache.
  struct Kept {
    std::size_t length = 0, written = 0;
    StateFrames::Kept frames = {};  ///< of recurrent layers
  };
  /// Returns the first `length` tokens. Requires: length ≤ copyable(length).
  Kept kept(std::size_t length) const;
  /// The sequence becomes one whose cache had the same size. Its slots and frames (StateFrames::used_frames)
  /// have to be copied before any other call.
  void restore(const Kept& kept);
  /// How many of the first `length` tokens would be left after restore(kept) and rewind(length).
  std::size_t restorable(const Kept& kept, std::size_t length) const;

 private:
  bool keeps(std::size_t length) const;
  void add_node(const TokenTree& tree, NodeId node, PassBatch& batch);

  CacheId cache_;
  KeptSlots kept_;
  std::optional<StateFrames> frames_;  // of recurrent layers
  std::size_t written_ = 0;            // behind the last slot since the sequence was last begun
  std::size_t length_ = 0;
  NodeId scored_ = 0;
  std::vector<SlotMove> moves_;                      // of accepted nodes, to be done by the next pass
  std::vector<RecycledVector<std::int32_t>> paths_;  // by node: the slots from below the root to the node
};

}  // namespace spectr
