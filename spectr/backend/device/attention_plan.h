#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// The host's plan of a pass's attention: its chunks of 64 attended slots, and which rows read a chunk
/// together. Sharing affects no bit of the results.
///
/// The i-th slot that a row attends to is i if i < prefix, else its (i − prefix)-th ancestor. Chunks follow
/// this order, independent of slot numbers, so a tree node has the same bits as the same tokens in sequence.
struct AttentionPlan {
  std::vector<AttentionItem> items;  ///< items with listed slots come first, because they take longest
  std::vector<AttentionRow> rows;
  std::vector<PoolSlot> listed;
  std::vector<PoolSlot> written;  ///< [row], destination of its key and value
  std::vector<int> moved_into;    ///< pool blocks that the pass's moves write to, ascending
  int parts = 0;                  ///< number of partial results, in rows, of all items
};

/// Plans a pass. Up to `together` rows of a sequence share its whole chunks. `tables[r]` is the block table
/// of row r's sequence. If `window` > 0, rows attend to the last `window` slots only and share nothing.
/// `moves` are all pairs (from, to) that the pass executes first; they can include moves of earlier batches
/// whose pass failed, which `batch.moves` lacks. Requires: together > 0.
void plan_attention(const PassBatch& batch, std::span<const std::span<const int>> tables,
                    std::span<const PoolSlot> moves, std::size_t together, std::size_t window,
                    AttentionPlan& plan);

}  // namespace spectr
