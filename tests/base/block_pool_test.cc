#include "spectr/base/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace spectr {
namespace {

constexpr std::size_t bytes = (1 << 20) + 8;  // 32 MiB hold 31 of these blocks and a remainder

TEST(BlockPool, GivesEachHolderMemoryOfItsOwn) {
  BlockPool pool(bytes);
  std::vector<SharedBlock> blocks;
  for (int i = 0; i < 100; ++i) {
    blocks.push_back(pool.take());
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().data()) % 64, 0);
    std::fill_n(blocks.back().data(), bytes, static_cast<std::byte>(i));
  }
  EXPECT_EQ(pool.used_blocks(), 100);
  for (int i = 0; i < 100; ++i) {
    const std::byte* const block = blocks[static_cast<std::size_t>(i)].data();
    EXPECT_EQ(std::count(block, block + bytes, static_cast<std::byte>(i)),
              static_cast<std::ptrdiff_t>(bytes));
  }
}

TEST(BlockPool, GivesAgainWhatNobodyHolds) {
  BlockPool pool(bytes);
  SharedBlock block = pool.take();
  const std::byte* const at = block.data();
  SharedBlock other = block;
  block = {};
  EXPECT_NE(pool.take().data(), at) << "another holds it";
  other = {};
  EXPECT_EQ(pool.used_blocks(), 0);
  EXPECT_EQ(pool.take().data(), at);
}

TEST(BlockPool, TakesNoFurtherSegmentsHoweverOftenBlocksComeAndGo) {
  BlockPool pool(bytes);
  std::set<const std::byte*> seen;
  for (int round = 0; round < 10; ++round) {
    std::vector<SharedBlock> blocks;
    for (int i = 0; i < 20; ++i) seen.insert(blocks.emplace_back(pool.take()).data());
  }
  EXPECT_EQ(seen.size(), 20);
}

TEST(BlockPool, BlocksOutliveIt) {
  std::optional<BlockPool> pool(bytes);
  const SharedBlock block = pool->take();
  pool.reset();
  std::fill_n(block.data(), bytes, std::byte{1});
}

TEST(BlockPool, MayBeUsedByThreadsAtOnce) {
  BlockPool pool(4096);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&pool, t] {
        std::vector<SharedBlock> blocks(8);
        for (std::size_t i = 0; i < 2000; ++i) {
          SharedBlock& block = blocks[i % blocks.size()];
          if (block != SharedBlock()) {
            EXPECT_EQ(*block.data(), static_cast<std::byte>(t));
          }
          block = pool.take();
          *block.data() = static_cast<std::byte>(t);
        }
      });
    }
  }
  EXPECT_EQ(pool.used_blocks(), 0);
}

}  // namespace
}  // namespace spectr
