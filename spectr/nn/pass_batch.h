#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/base/token.h"

namespace spectr {

/// A sequence's keys and values in a backend.
using CacheId = std::uint32_t;

/// What a cache keeps of a sequence.
struct CacheSize {
  std::size_t slots;  ///< of the sequence and of the tree behind it
  /// Of slots behind the window, layers that have one keep so many of the latest: those of the rows that are
  /// computed, and as many as may be taken back without computing others again. As many as slots: all.
  std::size_t kept;
  std::size_t context = 0;  ///< tokens that the sequence may have
  /// Recurrent layers keep what they have of each token for so many of the latest slots,
  std::size_t recent = 0;
  /// and so many states at positions of the grid.
  std::size_t frames = 0;
};

/// The states of recurrent layers are those behind the tokens before a position that is a multiple of this:
/// what a row computes from such a state and from the tokens since does not depend on where passes end.
inline constexpr std::size_t state_grid = 16;

/// A state of a cache's recurrent layers before the position `grid` of the path to row `row`. It is nothing
/// at 0; it was kept in `frame`; or it is computed from state `from` of the batch, the one before it in the
/// grid, and the state_grid slots between.
struct GridState {
  CacheId cache;
  std::int32_t grid, row;
  std::int32_t from = -1;   ///< −1: none
  std::int32_t frame = -1;  ///< that it is read from; −1: none
  std::int32_t keep = -1;   ///< the frame that it is also written to; −1: none
  /// The slots before it may hold something else: what convolutions read of them is in the frame.
  bool restores = false;
};

/// The first `slots` slots of a cache and some of its frames go to another one of the same size, to the same
/// places in all layers. Of a ring of slots (see CacheSize) it is all that such a text has there.
struct CacheCopy {
  CacheId from, to;
  std::size_t slots;
  std::vector<std::int32_t> frames = {};
};

/// The host memory in which a cache keeps what it has of a sequence.
struct CacheMemory {
  /// Layers without a window: slots and bytes of a block (see Ops::share_blocks), 0 bytes where there are no
  /// such layers.
  std::size_t block_slots = 0, block_bytes = 0;
  /// Layers with a window, and recurrent ones: rings of slots and frames.
  std::vector<std::span<std::byte>> rest = {};
};

/// The keys and values of slot `from` go to slot `to`, in all layers.
struct SlotMove {
  CacheId cache;
  std::int32_t from, to;

  friend bool operator==(const SlotMove&, const SlotMove&) = default;
};

/// Rows of the head's matrix for tokens of one sequence, beside those that the head has for all.
struct OwnWords {
  std::vector<Token> tokens;
  std::vector<float> rows;    ///< [tokens, width]
  std::vector<float> biases;  ///< [tokens]; empty where the head has none
};

/// The rows of a pass, of one sequence or of several, as plain data: the same bytes go to a kernel launch, a
/// command buffer or another process. Row r is a token at a position of its sequence, written to a slot of
/// the sequence's cache; it attends to the cache's first `prefixes[r]` slots and to those in ancestors(r): of
/// a node of a tree those of its ancestors and its own, in ascending order. All of them are filled, or
/// written by this pass. Rows of one cache follow each other.
struct PassBatch {
  std::vector<SlotMove> moves;  ///< in this order, before everything else
  std::vector<Token> tokens;
  std::vector<std::int32_t> positions;
  std::vector<CacheId> caches;
  std::vector<std::int32_t> slots;
  std::vector<std::int32_t> prefixes;
  std::vector<std::int32_t> ancestor_ends;  ///< row r has those from ancestor_ends[r − 1] on
  std::vector<std::int32_t> ancestor_slots;
  std::vector<std::int32_t> wanted;        ///< rows whose logits are wanted, ascending
  std::vector<const OwnWords*> own_words;  ///< by wanted row, where the head has a shortlist; else empty
  /// Where the model has recurrent layers: states, each behind those that it needs, and which of them each
  /// row starts from, the last of its path. Else empty.
  std::vector<GridState> states;
  std::vector<std::int32_t> row_states;
  /// [rows, ModelSpec::input_width()], of a drafter; empty for other models.
  std::span<const float> features = {};
  /// Which row of EmbedSpec::segments is added to each row; empty: the first to all.
  std::vector<std::int32_t> segments;
  bool fuses = false;  ///< they are features of a target, which FusionSpec makes states of

  std::size_t rows() const { return tokens.size(); }

  std::span<const std::int32_t> ancestors(std::size_t row) const {
    const std::int32_t begin = row == 0 ? 0 : ancestor_ends[row - 1];
    return std::span(ancestor_slots)
        .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(ancestor_ends[row] - begin));
  }

  /// The row of EmbedSpec::segments that is added to a row.
  std::int32_t segment(std::size_t row) const { return segments.empty() ? 0 : segments[row]; }

  /// Slots that a row attends to.
  std::size_t attended(std::size_t row) const {
    return static_cast<std::size_t>(prefixes[row]) + ancestors(row).size();
  }

  /// The first position of a row's path that a window of `window` positions shows, the row's own included.
  std::size_t window_begin(std::size_t row, std::size_t window) const {
    // Rows of a block also attend to rows that follow them.
    const std::size_t end = std::min(attended(row), static_cast<std::size_t>(positions[row]) + 1);
    return window > 0 && end > window ? end - window : 0;
  }

  /// The slot of a position of a row's path. Requires: the position is less than attended(row).
  std::size_t slot_at(std::size_t row, std::size_t position) const {
    const auto prefix = static_cast<std::size_t>(prefixes[row]);
    return position < prefix ? position : static_cast<std::size_t>(ancestors(row)[position - prefix]);
  }

  void add_row(Token token, std::size_t position, CacheId cache, std::size_t slot, std::size_t prefix,
               std::span<const std::int32_t> ancestors);

  /// Memory for so many rows, each wanted, with so many ancestors and moves in all.
  void reserve(std::size_t rows, std::size_t ancestors, std::size_t moves);

  /// How much of it there is, to go back there.
  struct Mark {
    std::size_t moves, rows, ancestors, wanted, states;
  };
  Mark mark() const { return {moves.size(), rows(), ancestor_slots.size(), wanted.size(), states.size()}; }
  void cut(const Mark& mark);
  void clear() { cut({}); }
};

}  // namespace spectr
