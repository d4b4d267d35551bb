// Tests of the blocks of the KV cache on a device, and of copies of a cache.
#include "spectr/backend/device/cache_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/nn/arch/architectures.h"
#include "tests/support/data.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

class CopiedBlocks : public testing::Test {
 protected:
  CacheId opened(std::int32_t slots) {
    const CacheId cache = blocks_.open({.slots = 200, .kept = 200, .context = 200});
    if (slots > 0) blocks_.grow(cache, slots - 1);
    return cache;
  }
  Slice block(CacheId cache, std::size_t i) {
    const call::Cache first = blocks_.of(0);
    return first.pool.behind(static_cast<std::size_t>(blocks_.table(cache)[i]) * first.block_bytes);
  }
  std::size_t block_bytes() { return blocks_.of(0).block_bytes; }
  /// Returns every number of the cache's blocks.
  std::vector<std::uint16_t> numbers(CacheId cache) {
    std::vector<std::uint16_t> all;
    for (std::size_t i = 0; i < blocks_.table(cache).size(); ++i) {
      std::vector<std::uint16_t> of_block(block_bytes() / 2);
      EXPECT_TRUE(device_.download(std::as_writable_bytes(std::span(of_block)), block(cache, i)));
      all.insert(all.end(), of_block.begin(), of_block.end());
    }
    return all;
  }
  void fill(CacheId cache, std::uint16_t first) {
    for (std::size_t i = 0; i < blocks_.table(cache).size(); ++i) {
      std::vector<std::uint16_t> of_block(block_bytes() / 2);
      for (std::uint16_t& number : of_block) number = first++;
      EXPECT_TRUE(device_.upload(block(cache, i), std::as_bytes(std::span(of_block))));
    }
  }

  ModelSpec spec_ =
      read_model_spec(Gguf::open(source_folder() / "tests/data/arch/llama-f32.gguf").value()).value();
  TwinDevice device_;
  CacheBlocks blocks_{spec_, {KvType::f16, KvType::f16}, device_};
};

TEST_F(CopiedBlocks, HaveTheNumbersOfTheOthers) {
  const CacheId from = opened(130), to = opened(0);
  fill(from, 3);
  blocks_.copy({.from = from, .to = to, .slots = 129});
  EXPECT_EQ(blocks_.table(to).size(), 3u);
  EXPECT_EQ(numbers(to), numbers(from));
  fill(to, 777);
  EXPECT_NE(numbers(to), numbers(from)) << "they are blocks of their own";
}

TEST_F(CopiedBlocks, HaveWhatTheirMovesWillHaveDone) {
  const CacheId from = opened(70), to = opened(70);
  fill(from, 3);
  fill(to, 5000);
  const auto before = numbers(from);
  blocks_.add({.cache = from, .from = 69, .to = 2});
  blocks_.copy({.from = from, .to = to, .slots = 3});
  EXPECT_TRUE(blocks_.moves().empty());
  EXPECT_NE(numbers(from), before);
  const auto there = numbers(from), copied = numbers(to);
  EXPECT_TRUE(std::ranges::equal(std::span(copied).first(block_bytes() / 2),
                                 std::span(there).first(block_bytes() / 2)));
}

}  // namespace
}  // namespace spectr
