#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/lm/features.h"
#include "spectr/lm/token_tree.h"
#include "spectr/nn/pass_batch.h"
#include "spectr/nn/state_frames.h"

namespace spectr {

/// The settings that KvSlots plans by: the shortest window of the model's layers (0: no layer has one),
/// CacheSize::kept and, for recurrent layers, the counts of their frames.
struct KeptSlots {
  std::size_t shortest_window = 0, kept = 0;
  std::optional<FrameCounts> frames = {};
};

/// Maps the tokens of a sequence and the nodes of its tree to the cache slots of their keys and values.
///
/// Slots 0 … length−1 hold the sequence's tokens in order; node n > 0 of the tree has slot length + n − 1 and
/// attends to the sequence and to its own ancestors. Accepting a path moves its slots to the end of the
/// sequence, as the first work of the next pass; the tree's other slots are overwritten. This class only does
/// the bookkeeping: the backend owns the contents of the slots.
///
/// Layers with a window keep the window and CacheSize::kept further slots, always the latest. Rolling back
/// more tokens than that would leave the next token without a part of its window in each of these layers, so
/// the sequence is then recomputed from its beginning, on which every layer's keys depend. With recurrent
/// layers, the sequence is recomputed from the last kept state (see StateFrames).
class KvSlots {
 public:
  /// Prefill rows of a pass: enough to be compute-bound, few enough to stay in the processor's cache.
  static constexpr std::size_t text_rows = 64;

  /// Number of tokens that can be rolled back without recomputing any other token.
  static constexpr std::size_t spare_slots = 256;

  /// Requires: trees have at most `nodes` nodes.
  KvSlots(CacheId cache, std::size_t nodes, const KeptSlots& kept = {})
      : cache_(cache), kept_(kept), paths_(nodes) {
    moves_.reserve(nodes);
    if (kept.frames) frames_.emplace(*kept.frames);
  }

  /// Returns the maximum number of rows that one plan() adds, for trees of at most `nodes` nodes.
  static std::size_t max_rows(std::size_t nodes) { return nodes + text_rows; }

  /// Number of tokens of the sequence that have slots.
  std::size_t length() const { return length_; }
  /// Sets `out` to the slots of the first `length` tokens. Requires: length ≤ length().
  void locate(std::size_t length, SequenceSlots& out) const;
  /// Number of nodes of the tree that have slots or, for the root, logits.
  NodeId scored() const { return scored_; }

  /// The outcome of plan(): whether the next pass completes the score, and the first node whose logits it
  /// gives. The logits are those of first_node and all later nodes, in the order of the rows.
  struct Plan {
    bool complete;
    NodeId first_node;
  };
  /// Appends the moves and rows of the next pass over `text` and `tree` to the batch: a chunk of at most
  /// `max_piece` tokens of the text, or its last chunk together with the nodes without slots. The pass must
  /// run before any other call; if it fails after it has begun, rewind to the length before it. Throws
  /// std::bad_alloc; then nothing is appended and nothing has changed. Requires: max_piece ≥ 1.
  Plan plan(std::span<const Token> text, const TokenTree& tree, PassBatch& batch,
            std::size_t max_piece = text_rows);

  /// Appends the nodes of `path` to the sequence, up to the first one without a slot, and drops the tree.
  void keep(std::span<const NodeId> path);
  /// Drops the tree and all tokens after the first `length`. Drops further tokens if layers no longer keep
  /// what the next token needs.
  void rewind(std::size_t length);

  /// Returns how many of the first `length` tokens another cache can take. Requires: no pass is in flight.
  std::size_t copyable(std::size_t length) const;

  /// A prefix of a sequence, independent of any cache.
  struct Kept {
    std::size_t length = 0, written = 0;
    StateFrames::Kept frames = {};  ///< empty without recurrent layers
  };
  /// Returns the prefix of `length` tokens. Requires: length ≤ copyable(length).
  Kept kept(std::size_t length) const;
  /// Replaces the sequence by `kept`, whose cache must have had the same size. Its slots and frames
  /// (StateFrames::used_frames) must be copied before any other call.
  void restore(const Kept& kept);
  /// Returns how many of the first `length` tokens would remain after restore(kept) and rewind(length).
  std::size_t restorable(const Kept& kept, std::size_t length) const;

 private:
  bool keeps(std::size_t length) const;
  void add_node(const TokenTree& tree, NodeId node, PassBatch& batch);

  CacheId cache_;
  KeptSlots kept_;
  std::optional<StateFrames> frames_;  // none without recurrent layers
  std::size_t written_ = 0;            // end of the slots written since the sequence last began
  std::size_t length_ = 0;
  NodeId scored_ = 0;
  std::vector<SlotMove> moves_;                      // pending moves of accepted nodes, done by the next pass
  std::vector<RecycledVector<std::int32_t>> paths_;  // by node: the slots from below the root to the node
};

}  // namespace spectr
