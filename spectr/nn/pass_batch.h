#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/base/token.h"

namespace spectr {

/// Handle of a sequence's KV cache in a backend.
using CacheId = std::uint32_t;

/// Capacity of a cache.
struct CacheSize {
  std::size_t slots;  ///< for the sequence and the tree after it
  /// Number of latest slots that layers with a window keep after the window: those of a pass's rows, and
  /// those that can be rolled back without recomputation. Equal to `slots`: all are kept.
  std::size_t kept;
  std::size_t context = 0;  ///< maximum number of tokens of the sequence
  /// Number of latest slots for which recurrent layers keep their per-token inputs.
  std::size_t recent = 0;
  /// Number of states at grid positions that recurrent layers keep.
  std::size_t frames = 0;
};

/// Recurrent layers keep states only after a number of tokens that is a multiple of this. What a row computes
/// from such a state and the tokens since does not depend on where passes end.
inline constexpr std::size_t state_grid = 16;

/// A state of a cache's recurrent layers before the position `grid` of the path to row `row`. At position 0
/// it is empty; otherwise it is read from `frame`, or computed from state `from` of the batch, the previous
/// one of the grid, and the state_grid slots in between.
struct GridState {
  CacheId cache;
  std::int32_t grid, row;
  std::int32_t from = -1;   ///< index in the batch; −1: none
  std::int32_t frame = -1;  ///< frame that it is read from; −1: none
  std::int32_t keep = -1;   ///< frame that it is also written to; −1: none
  /// True if earlier slots may have been overwritten; the frame also has the convolutions' inputs from them.
  bool restores = false;
};

/// Copies the first `slots` slots of a cache and some of its frames to the same positions of another cache of
/// the same size, in all layers. In a ring of slots (see CacheSize), all that a sequence of this length has.
struct CacheCopy {
  CacheId from, to;
  std::size_t slots;
  std::vector<std::int32_t> frames = {};
};

/// The host memory of a cache's contents for one sequence.
struct CacheMemory {
  /// Layers without a window: slots and bytes of a block (see Ops::share_blocks); 0 bytes if there are no
  /// such layers.
  std::size_t block_slots = 0, block_bytes = 0;
  /// Layers with a window, and recurrent ones: rings of slots and frames.
  std::vector<std::span<std::byte>> rest = {};
};

/// Moves the keys and values of slot `from` to slot `to`, in all layers.
struct SlotMove {
  CacheId cache;
  std::int32_t from, to;

  friend bool operator==(const SlotMove&, const SlotMove&) = default;
};

/// Rows of the head's matrix for tokens of one sequence, in addition to the head's shortlist.
struct ExtraTokens {
  std::vector<Token> tokens;
  std::vector<float> rows;    ///< [tokens, width]
  std::vector<float> biases;  ///< [tokens]; empty if the head has none
};

/// The rows of a pass over one or several sequences, as plain data: the same bytes go to a kernel launch, a
/// command buffer or another process. Row r is a token at a position of its sequence, written to a slot of
/// the sequence's cache. It attends to the cache's first `prefixes[r]` slots and to those in ancestors(r):
/// for a node of a tree, the slots of its ancestors and its own, in ascending order. All of them are filled
/// already or written by this pass. The rows of one cache are contiguous.
struct PassBatch {
  std::vector<SlotMove> moves;  ///< done in this order, before everything else
  std::vector<Token> tokens;
  std::vector<std::int32_t> positions;
  std::vector<CacheId> caches;
  std::vector<std::int32_t> slots;
  std::vector<std::int32_t> prefixes;
  std::vector<std::int32_t> ancestor_ends;  ///< ends of the rows' parts of ancestor_slots
  std::vector<std::int32_t> ancestor_slots;
  std::vector<std::int32_t> wanted;  ///< rows whose logits are wanted, ascending
  std::vector<const ExtraTokens*>
      extra_tokens;  ///< one per wanted row if the head has a shortlist; else empty
  /// Models with recurrent layers only: the states, each after those that it depends on, and for each row the
  /// index of the state that it starts from, the last on its path.
  std::vector<GridState> states;
  std::vector<std::int32_t> row_states;
  /// [rows, ModelSpec::input_width()], for drafters; empty for other models.
  std::span<const float> features = {};
  /// Row of EmbedSpec::segments to add to each row of the pass; empty: the first for all.
  std::vector<std::int32_t> segments;
  bool fuses = false;  ///< `features` are a target's, which FusionSpec maps to states

  std::size_t rows() const { return tokens.size(); }

  std::span<const std::int32_t> ancestors(std::size_t row) const {
    const std::int32_t begin = row == 0 ? 0 : ancestor_ends[row - 1];
    return std::span(ancestor_slots)
        .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(ancestor_ends[row] - begin));
  }

  /// Returns the row of EmbedSpec::segments to add to a row.
  std::int32_t segment(std::size_t row) const { return segments.empty() ? 0 : segments[row]; }

  /// Returns the number of slots that a row attends to.
  std::size_t attended(std::size_t row) const {
    return static_cast<std::size_t>(prefixes[row]) + ancestors(row).size();
  }

  /// Returns the first position of a row's path in a window of `window` positions that ends with the row.
  std::size_t window_begin(std::size_t row, std::size_t window) const {
    // Rows of a block also attend to rows that follow them, and rows of some drafters not to themselves.
    const std::size_t end = static_cast<std::size_t>(positions[row]) + 1;
    return window > 0 && end > window ? end - window : 0;
  }

  /// Returns the slot of a position of a row's path. Requires: position < attended(row).
  std::size_t slot_at(std::size_t row, std::size_t position) const {
    const auto prefix = static_cast<std::size_t>(prefixes[row]);
    return position < prefix ? position : static_cast<std::size_t>(ancestors(row)[position - prefix]);
  }

  void add_row(Token token, std::size_t position, CacheId cache, std::size_t slot, std::size_t prefix,
               std::span<const std::int32_t> ancestors);

  /// Reserves memory for `rows` rows, all wanted, with `ancestors` ancestors and `moves` moves in total.
  void reserve(std::size_t rows, std::size_t ancestors, std::size_t moves);

  /// Sizes of a batch, to which cut() truncates it again.
  struct Mark {
    std::size_t moves, rows, ancestors, wanted, states;
  };
  Mark mark() const { return {moves.size(), rows(), ancestor_slots.size(), wanted.size(), states.size()}; }
  void cut(const Mark& mark);
  void clear() { cut({}); }
};

}  // namespace spectr
