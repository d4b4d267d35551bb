#include "spectr/backend/device/attention_plan.h"

#include <algorithm>

namespace spectr {
namespace {

using Table = std::span<const int>;

PoolSlot slot_in_pool(Table table, std::int32_t slot) {
  return table[static_cast<std::size_t>(slot / chunk_slots)] * chunk_slots + slot % chunk_slots;
}

/// Plans the rows of one sequence.
class TextPlanner {
 public:
  TextPlanner(const PassBatch& batch, std::size_t begin, std::size_t end, Table table, std::size_t window,
              AttentionPlan& plan)
      : batch_(batch),
        table_(table),
        window_(static_cast<int>(window)),
        plan_(plan),
        written_(batch.slots[begin]) {
    for (std::size_t r = begin; r < end; ++r) written_ = std::min(written_, batch.slots[r]);
  }

  /// Adds the chunks in the prefix that all rows in [begin, end) share, then the other chunks of each row.
  void add(std::size_t begin, std::size_t end) {
    std::int32_t prefix = batch_.prefixes[begin];
    for (std::size_t r = begin; r < end; ++r) prefix = std::min(prefix, batch_.prefixes[r]);
    const int shared = window_ > 0 ? 0 : prefix / chunk_slots, rows = static_cast<int>(end - begin);
    for (std::size_t r = begin; r < end; ++r) {
      plan_.rows[r] = {.chunks = chunks_end(r) - first_of(r) / chunk_slots,
                       .shared = shared,
                       .part = plan_.parts,
                       .rows = rows,
                       .place = static_cast<int>(r - begin),
                       .own = 0};
    }
    for (int c = 0; c < shared; ++c) add_item(begin, rows, c, true);
    for (std::size_t r = begin; r < end; ++r) {
      plan_.rows[r].own = plan_.parts;
      const int first = first_of(r);
      for (int c = std::max(shared, first / chunk_slots); c < chunks_end(r); ++c) {
        add_item(r, 1, c, c * chunk_slots >= first && (c + 1) * chunk_slots <= batch_.prefixes[r]);
      }
    }
  }

 private:
  /// Returns the first index, among the slots that a row attends to, in its window.
  int first_of(std::size_t row) const {
    return static_cast<int>(batch_.window_begin(row, static_cast<std::size_t>(window_)));
  }
  int chunks_end(std::size_t row) const {
    return (static_cast<int>(batch_.attended(row)) + chunk_slots - 1) / chunk_slots;
  }

  void add_item(std::size_t row, int rows, int chunk, bool is_whole) {
    AttentionItem item{.row = static_cast<int>(row),
                       .rows = rows,
                       .part = plan_.parts,
                       .block = -1,
                       .list = 0,
                       .present = chunk_slots,
                       .settled = 0};
    if (is_whole) {
      item.block = table_[static_cast<std::size_t>(chunk)];
      item.settled =
          (chunk + 1) * chunk_slots <= written_ && !std::ranges::binary_search(plan_.moved_into, item.block);
    } else {
      const int first = std::max(chunk * chunk_slots, first_of(row)), prefix = batch_.prefixes[row];
      const int end = std::min((chunk + 1) * chunk_slots, static_cast<int>(batch_.attended(row)));
      item.list = static_cast<int>(plan_.listed.size());
      item.present = end - first;
      for (int i = first; i < end; ++i) {
        const std::int32_t slot =
            i < prefix ? i : batch_.ancestors(row)[static_cast<std::size_t>(i - prefix)];
        plan_.listed.push_back(slot_in_pool(table_, slot));
      }
    }
    plan_.items.push_back(item);
    plan_.parts += rows;
  }

  const PassBatch& batch_;
  Table table_;
  int window_;  // 0: none
  AttentionPlan& plan_;
  std::int32_t written_;  // lowest slot that this pass writes
};

}  // namespace

void plan_attention(const PassBatch& batch, std::span<const std::span<const int>> tables,
                    std::span<const PoolSlot> moves, std::size_t together, std::size_t window,
                    AttentionPlan& plan) {
  if (window > 0) together = 1;
  plan.moved_into.clear();
  for (std::size_t i = 1; i < moves.size(); i += 2) plan.moved_into.push_back(moves[i] / chunk_slots);
  std::ranges::sort(plan.moved_into);
  plan.items.clear();
  plan.listed.clear();
  plan.written.clear();
  plan.parts = 0;
  plan.rows.assign(batch.rows(), AttentionRow{});
  for (std::size_t begin = 0, end; begin < batch.rows(); begin = end) {
    end = begin + 1;
    while (end < batch.rows() && batch.caches[end] == batch.caches[begin]) ++end;
    TextPlanner text(batch, begin, end, tables[begin], window, plan);
    for (std::size_t r = begin; r < end; r += together) text.add(r, std::min(r + together, end));
    for (std::size_t r = begin; r < end; ++r) {
      plan.written.push_back(slot_in_pool(tables[begin], batch.slots[r]));
    }
  }
  std::ranges::stable_partition(plan.items, [](const AttentionItem& item) { return item.block < 0; });
}

}  // namespace spectr
