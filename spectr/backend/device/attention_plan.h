#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/nn/pass_batch.h"

namespace spectr {

/// A pass's attention, planned on the host: which chunks of 64 attended slots there are, and which rows share
/// what is read of them. No bit depends on what is shared.
///
/// The i-th slot that a row attends to is i for i < prefix, else its (i − prefix)-th ancestor. Chunks follow
/// that order, whatever the slots, so that a node of a tree has the bits of the same tokens as text.
struct AttentionPlan {
  std::vector<AttentionItem> items;  ///< those with listed slots first: they take longest
  std::vector<AttentionRow> rows;
  std::vector<PoolSlot> listed;
  std::vector<PoolSlot> written;  ///< [row], where its key and value go
  std::vector<int> moved_into;    ///< blocks of the pool that the pass's moves write to, ascending
  int parts = 0;                  ///< rows of all items
};

/// Up to `together` rows of a text share its whole chunks. `tables[r]`: the blocks of the pool that row r's
/// text has, in order. With a window rows attend to so many of the last slots only, and share nothing.
/// `moves`: all pairs (from, to) that the pass moves first. They can include moves of earlier batches whose
/// pass failed, which `batch.moves` lacks. Requires: together > 0.
void plan_attention(const PassBatch& batch, std::span<const std::span<const int>> tables,
                    std::span<const PoolSlot> moves, std::size_t together, std::size_t window,
                    AttentionPlan& plan);

}  // namespace spectr
