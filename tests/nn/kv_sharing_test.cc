// Sequences with a common prefix share its blocks.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "spectr/backend/cpu/kv_store.h"
#include "spectr/base/block_pool.h"
#include "spectr/base/check.h"

namespace spectr {
namespace {

/// Two sequences with a common prefix.
struct SharingStores {
  static constexpr std::size_t rows = 150, blocks = 3;

  KvLayout layout{std::vector{KvLayout::Layer{1, 8}, {1, 8, 32}}, {KvType::f32, KvType::f32}};
  BlockPool pool{layout.block_bytes()};
  static constexpr CacheSize size{.slots = 2 * rows, .kept = 64, .context = 2 * rows - 20};
  KvStore first{layout, size, pool}, second{layout, size, pool};

  static void write(KvStore& store, std::size_t begin, std::size_t end, float value) {
    store.own(begin, end);
    const std::vector<float> key(8, 0.0f), numbers(8, value);
    for (std::size_t slot = begin; slot < end; ++slot) store.write(0, 0, slot, key, numbers);
  }
  static float value_at(const KvStore& store, int slot) {
    const std::vector<float> q(8, 1.0f);
    std::vector<float> out(8), scratch(attention_scratch(2 * rows, 8));
    const Query query = {q.data(), 0, {&slot, 1}, out.data()};
    store.attend(0, 0, {&query, 1}, {1.0f}, scratch, ReadFrom::memory);
    return out[0];
  }
};

TEST(KvStore, SharesTheFullBlocksOfABeginning) {
  SharingStores stores;
  stores.write(stores.first, 0, SharingStores::rows, 1.0f);
  EXPECT_EQ(stores.pool.used_blocks(), SharingStores::blocks);
  stores.second.take(stores.first.share(SharingStores::rows), SharingStores::rows);
  EXPECT_EQ(stores.pool.used_blocks(), SharingStores::blocks + 1) << "the last block is copied";
  for (const int slot : {0, 63, 64, 127, 128, 149}) EXPECT_EQ(stores.value_at(stores.second, slot), 1.0f);
}

TEST(KvStore, WritesToACopyOfABlockThatItShares) {
  SharingStores stores;
  stores.write(stores.first, 0, SharingStores::rows, 1.0f);
  stores.second.take(stores.first.share(128), 128);
  ASSERT_EQ(stores.pool.used_blocks(), SharingStores::blocks);
  stores.write(stores.second, 70, 80, 2.0f);
  EXPECT_EQ(stores.pool.used_blocks(), SharingStores::blocks + 1);
  stores.write(stores.first, 3, 150, 3.0f);
  for (const auto& [slot, mine] : {std::pair(0, 1.0f), {2, 1.0f}, {3, 3.0f}, {75, 3.0f}, {149, 3.0f}})
    EXPECT_EQ(stores.value_at(stores.first, slot), mine) << slot;
  for (const auto& [slot, mine] : {std::pair(0, 1.0f), {3, 1.0f}, {69, 1.0f}, {70, 2.0f}, {79, 2.0f}})
    EXPECT_EQ(stores.value_at(stores.second, slot), mine) << slot;
}

TEST(KvStore, DropsBlocksBehindWhatATreeReaches) {
  SharingStores stores;
  stores.write(stores.first, 0, 2 * SharingStores::rows, 1.0f);
  EXPECT_EQ(stores.pool.used_blocks(), 5);
  stores.write(stores.first, 40, 41, 2.0f);
  EXPECT_EQ(stores.pool.used_blocks(), 2) << "nodes may lie in the 40 slots behind";
  stores.write(stores.first, 10, 11, 2.0f);
  EXPECT_EQ(stores.pool.used_blocks(), 1);
  stores.second.take(stores.first.share(11), 11);
  stores.second.take({}, 0);
  EXPECT_EQ(stores.pool.used_blocks(), 1);
}

TEST(KvStore, RefusesSlotsBehindItsLast) {
  SharingStores stores;
  EXPECT_THROW(stores.first.own(0, 5 * slot_block + 1), BrokenContract);
  EXPECT_THROW(stores.first.share(1), BrokenContract) << "never written";
}

}  // namespace
}  // namespace spectr
