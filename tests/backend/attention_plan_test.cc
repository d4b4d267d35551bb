#include "spectr/backend/device/attention_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "spectr/nn/kv_slots.h"
#include "tests/nn/random_sequences.h"

namespace spectr {
namespace {

/// Rows of two sequences: the last rows of one, and a random tree that follows the other.
struct Rows {
  PassBatch batch;
  std::vector<int> first = {7, 3, 9, 1}, second = {8, 2, 6, 4};  // blocks of the pool
  std::vector<std::span<const int>> tables;

  explicit Rows(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto length = static_cast<int>(random() % 150);
    for (int r = 0; r < 5; ++r) add(0, first, length + r, length + r + 1, {});
    const auto text = static_cast<int>(1 + random() % 150);
    std::vector<std::vector<std::int32_t>> paths = {{}};
    add(1, second, text - 1, text, {});
    for (int r = 1; r < 12; ++r) {
      paths.push_back(paths[random() % paths.size()]);
      paths.back().push_back(text + r);
      add(1, second, text + r, text, paths.back());
    }
  }
  void add(CacheId cache, std::span<const int> table, int slot, int prefix,
           const std::vector<std::int32_t>& path) {
    const std::size_t attended = static_cast<std::size_t>(prefix) + path.size();
    batch.add_row(0, attended - 1, cache, static_cast<std::size_t>(slot), static_cast<std::size_t>(prefix),
                  path);
    tables.push_back(table);
  }
  /// Returns the slots that row r attends to, in order; only the last `window` of them if `window` > 0.
  std::vector<PoolSlot> attended(std::size_t r, std::size_t window) const {
    std::vector<PoolSlot> slots;
    const auto add_slot = [&](int slot) {
      slots.push_back(tables[r][static_cast<std::size_t>(slot / 64)] * 64 + slot % 64);
    };
    for (int slot = 0; slot < batch.prefixes[r]; ++slot) add_slot(slot);
    for (const std::int32_t slot : batch.ancestors(r)) add_slot(slot);
    if (window > 0 && slots.size() > window) {
      slots.erase(slots.begin(), slots.end() - static_cast<std::ptrdiff_t>(window));
    }
    return slots;
  }
};

std::vector<PoolSlot> slots_of(const AttentionPlan& plan, const AttentionItem& item) {
  std::vector<PoolSlot> slots;
  for (int i = 0; i < item.present; ++i) {
    slots.push_back(item.block >= 0 ? item.block * 64 + i
                                    : plan.listed[static_cast<std::size_t>(item.list + i)]);
  }
  return slots;
}

TEST(AttentionPlan, GivesEveryRowItsSlotsInOrder) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Rows rows(seed);
    for (const auto& [together, window] :
         {std::pair<std::size_t, std::size_t>{1, 0}, {2, 0}, {8, 0}, {64, 0}, {8, 1}, {8, 64}, {8, 100}}) {
      AttentionPlan plan;
      plan_attention(rows.batch, rows.tables, {}, together, window, plan);
      for (std::size_t r = 0; r < rows.batch.rows(); ++r) {
        const AttentionRow& row = plan.rows[r];
        std::vector<PoolSlot> slots;
        for (int c = 0; c < row.chunks; ++c) {
          const auto item = std::ranges::find(plan.items, row.part_of(c), &AttentionItem::part);
          ASSERT_NE(item, plan.items.end());
          EXPECT_EQ(item->rows, row.rows_of(c));
          EXPECT_EQ(item->row + row.place_of(c), static_cast<int>(r));
          const std::vector<PoolSlot> more = slots_of(plan, *item);
          slots.insert(slots.end(), more.begin(), more.end());
        }
        EXPECT_EQ(slots, rows.attended(r, window));
      }
    }
  }
}

TEST(AttentionPlan, CallsSettledOnlyWhatNoRowWrites) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Rows rows(seed);
    AttentionPlan plan;
    plan_attention(rows.batch, rows.tables, {}, 2, 0, plan);
    const std::set<PoolSlot> written(plan.written.begin(), plan.written.end());
    for (const AttentionItem& item : plan.items) {
      if (item.settled == 0) continue;
      for (const PoolSlot slot : slots_of(plan, item)) EXPECT_FALSE(written.contains(slot));
    }
  }
}

/// A sequence with speculated trees. KvSlots assigns its slots; its blocks lie anywhere in the pool.
class DraftedSequence {
 public:
  DraftedSequence(CacheId cache, std::uint32_t seed) : cache_(cache), random_(seed), table_(8) {
    std::iota(table_.begin(), table_.end(), static_cast<int>(cache) * 8);
    std::ranges::shuffle(table_, random_);
    sequence_ = random_text(1 + random_() % 130, vocabulary, seed);
  }

  /// Adds the rows of its next pass: those of the prompt, or the last token with a random tree.
  void plan(PassBatch& batch, std::vector<std::span<const int>>& tables) {
    const NodeId nodes = 1 + static_cast<NodeId>(random_() % max_nodes);
    tree_ = random_tree(sequence_.back(), nodes, vocabulary, random_());
    length_before_ = slots_.length();
    is_complete_ = slots_.plan(sequence_, tree_, batch).complete;
    tables.resize(batch.rows(), table_);
  }
  /// Keeps a random path of the tree and appends one more token.
  void keep_a_path() {
    if (!is_complete_) return;
    const auto node = static_cast<NodeId>(random_() % static_cast<std::uint32_t>(tree_.size()));
    const auto path = tree_.path(node);
    slots_.keep(path);
    for (const NodeId step : path) sequence_.push_back(tree_.token(step));
    sequence_.push_back(static_cast<Token>(random_() % vocabulary));
  }
  /// Rolls back what the pass has computed.
  void fail() { slots_.rewind(length_before_); }

  PoolSlot slot_in_pool(std::int32_t slot) const {
    return table_[static_cast<std::size_t>(slot / 64)] * 64 + slot % 64;
  }

 private:
  static constexpr std::size_t vocabulary = 50;
  static constexpr std::uint32_t max_nodes = 24;
  CacheId cache_;
  std::mt19937 random_;
  std::vector<int> table_;
  std::vector<Token> sequence_;
  TokenTree tree_{0};
  KvSlots slots_{cache_, max_nodes};
  std::size_t length_before_ = 0;
  bool is_complete_ = false;
};

// Kernels read settled blocks while the pass's first kernels may still be running, and those are the moves.
TEST(AttentionPlan, CallsSettledExactlyTheBlocksThatNeitherRowsNorMovesWrite) {
  std::size_t settled = 0, moved_into = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<DraftedSequence> sequences = {{0, 2 * seed}, {1, 2 * seed + 1}};
    std::vector<PoolSlot> pending;  // including those of failed passes
    std::mt19937 random(seed);
    for (int pass = 0; pass < 12; ++pass) {
      PassBatch batch;
      std::vector<std::span<const int>> tables;
      for (DraftedSequence& sequence : sequences) sequence.plan(batch, tables);
      for (const SlotMove& move : batch.moves) {
        for (const std::int32_t slot : {move.from, move.to})
          pending.push_back(sequences[move.cache].slot_in_pool(slot));
      }
      AttentionPlan plan;
      plan_attention(batch, tables, pending, std::size_t{1} << random() % 5, 0, plan);

      std::set<int> writes;
      for (const PoolSlot slot : plan.written) writes.insert(slot / 64);
      for (std::size_t i = 1; i < pending.size(); i += 2) writes.insert(pending[i] / 64);
      for (const AttentionItem& item : plan.items) {
        if (item.block < 0) continue;
        EXPECT_EQ(item.settled != 0, !writes.contains(item.block)) << "block " << item.block;
        settled += item.settled != 0 ? 1 : 0;
        moved_into += std::ranges::binary_search(plan.moved_into, item.block) ? 1 : 0;
      }

      const bool fails = random() % 6 == 0;
      if (!fails) pending.clear();
      for (DraftedSequence& sequence : sequences) fails ? sequence.fail() : sequence.keep_a_path();
    }
  }
  EXPECT_GT(settled, 1000u) << "blocks that kernels read ahead";
  EXPECT_GT(moved_into, 20u) << "blocks that kept nodes move into";
}

TEST(AttentionPlan, HasAPlaceOfItsOwnForEachItem) {
  const Rows rows(1);
  AttentionPlan plan;
  plan_attention(rows.batch, rows.tables, {}, 4, 0, plan);
  std::ranges::sort(plan.items, {}, &AttentionItem::part);
  int next = 0;
  for (const AttentionItem& item : plan.items) {
    EXPECT_EQ(item.part, next);
    next += item.rows;
  }
  EXPECT_EQ(plan.parts, next);
}

}  // namespace
}  // namespace spectr
