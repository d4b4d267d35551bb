// Devices that run out of memory or are lost, on the twins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "spectr/backend/device/cache_blocks.h"
#include "spectr/backend/device/state_memory.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/devices/on_twins.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace test;

TEST(DeviceMemory, TooSmallForTheWeightsIsSaidBeforeTheyAreLoaded) {
  const auto device = std::make_shared<TwinDevice>(300'000);
  const auto model = load(*find_data(bundled_draft), std::make_shared<DeviceBackend>(device));
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message,
              testing::MatchesRegex("twins \\(plain loops on the processor\\): .*0.6m-q8_0.gguf takes "
                                    "0.00[0-9]* GB on the device, of which 0.0003 GB are free; --device none "
                                    "computes on the CPU"));
  EXPECT_EQ(device->info().free_bytes, 300'000u);
}

TEST(DeviceMemory, TooSmallForATextEndsThatTextAlone) {
  const fs::path file = source_folder() / "tests/data/arch/llama-f32.gguf";
  const auto device = std::make_shared<TwinDevice>(700'000);
  const auto model = load(file, std::make_shared<DeviceBackend>(device)).value();
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Token> text = random_text(200, model->vocabulary(), 1);
  const auto first = model->start(0, 1).value();
  ASSERT_TRUE(first->score(text, TokenTree(text.back())));
  bool failed = false;
  for (int i = 0; i < 100 && !failed; ++i) {
    auto session = model->start(0, 1);
    if (!session) break;
    try {
      if (!(*session)->score(text, TokenTree(text.back()))) failed = true;
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    sessions.push_back(std::move(*session));
  }
  EXPECT_TRUE(failed);
  text.push_back(5);
  ASSERT_TRUE(first->score(text, TokenTree(text.back())));
  const Row here = row_of(*first, TokenTree::root);
  sessions.clear();
  EXPECT_EQ(here, alone(*model, text));
}

/// Expects correct logits for any amount of memory, also after passes that failed for lack of memory.
void expect_right_texts(const fs::path& file, std::size_t least, std::size_t most) {
  const OnTwins roomy(file);
  const std::size_t vocabulary = roomy.model->vocabulary();
  std::size_t complete = 0, failed = 0;
  for (std::size_t bytes = least; bytes < most; bytes += (most - least) / 16) {
    const auto device = std::make_shared<TwinDevice>(bytes);
    const auto model = load(file, std::make_shared<DeviceBackend>(device));
    if (!model) continue;
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<std::vector<Token>> texts;
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto session = (*model)->start(0, 1);
      if (!session) break;
      sessions.push_back(std::move(*session));
      texts.push_back(random_text(3, vocabulary, i));
    }
    for (std::uint32_t round = 0; round < 4 && sessions.size() == 2; ++round) {
      std::vector<TokenTree> trees(texts.size(), TokenTree(0));
      std::vector<Scoring> scorings;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        for (const Token token : random_text(round == 0 ? 1 : 63, vocabulary, round))
          texts[i].push_back(token);
        trees[i] = TokenTree(texts[i].back());
        scorings.push_back({.session = sessions[i].get(), .text = texts[i], .tree = &trees[i]});
      }
      while (!std::ranges::all_of(scorings, &Scoring::is_over)) (*model)->score_together(scorings);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const bool scored = scorings[i].failure == nullptr && scorings[i].result;
        (scored ? complete : failed) += 1;
        if (scored) {
          ASSERT_EQ(row_of(*sessions[i], TokenTree::root), alone(*roomy.model, texts[i])) << bytes;
        }
      }
    }
  }
  EXPECT_GT(complete, 10u);
  EXPECT_GT(failed, 10u);
}

TEST(DeviceMemory, ThatEndsAnywhereSpoilsNoText) {
  expect_right_texts(source_folder() / "tests/data/arch/llama-f32.gguf", 300'000, 1'100'000);
}

TEST(DeviceMemory, ThatEndsAnywhereSpoilsNoState) {
  expect_right_texts(source_folder() / "tests/data/arch2/qwen35/model-interval2.gguf", 3'000'000, 3'800'000);
}

TEST(DeviceMemory, TooSmallForACopyLeavesNoText) {
  const auto device = std::make_shared<TwinDevice>(700'000);
  const auto model =
      load(source_folder() / "tests/data/arch/llama-f32.gguf", std::make_shared<DeviceBackend>(device))
          .value();
  std::vector<Token> text = random_text(200, model->vocabulary(), 1);
  const auto source = model->start(0, 1).value();
  ASSERT_TRUE(source->score(text, TokenTree(text.back())));
  std::vector<std::unique_ptr<Session>> copies;
  bool failed = false;
  while (!failed) {
    copies.push_back(model->start(0, 1).value());
    try {
      copies.back()->copy(*source, 199);
      EXPECT_EQ(copies.back()->length(), 199u);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(copies.back()->length(), 0u);
      failed = true;
    }
  }
  text.push_back(5);
  ASSERT_TRUE(source->score(text, TokenTree(text.back())));
  const Row here = row_of(*source, TokenTree::root);
  copies.clear();
  EXPECT_EQ(here, alone(*model, text));
}

/// Grows a cache block by block until the device has no more memory, and returns how many slots it has then.
std::int32_t grow_until_full(CacheBlocks& blocks, CacheId cache) {
  for (std::int32_t slot = 0;; slot += 64) {
    try {
      blocks.grow(cache, slot);
    } catch (const std::bad_alloc&) {
      return slot;
    }
  }
}

TEST(DeviceMemory, IsTakenByKeysAndValuesInFewSteps) {
  const fs::path file = source_folder() / "tests/data/arch/llama-f32.gguf";
  const ModelSpec spec = read_model_spec(Gguf::open(file).value()).value();
  TwinDevice device(std::size_t{1} << 24);
  CacheBlocks blocks(spec, {KvType::f16, KvType::f16}, device);
  const std::size_t free = device.info().free_bytes;
  const CacheId cache = blocks.open({.slots = 64, .kept = 64, .context = 64});
  const std::int32_t taken = grow_until_full(blocks, cache) / 64;
  EXPECT_GT(taken, 100);
  EXPECT_LT(blocks.times_moved(), 30u) << "blocks: " << taken;
  EXPECT_GT(static_cast<std::size_t>(taken) * blocks.of(0).block_bytes, free - 2 * blocks.of(0).block_bytes);
}

TEST(DeviceMemory, InPiecesIsTakenByKeysAndValuesThroughTheHost) {
  const fs::path file = source_folder() / "tests/data/arch/llama-f32.gguf";
  const ModelSpec spec = read_model_spec(Gguf::open(file).value()).value();
  constexpr std::size_t withheld = std::size_t{1} << 23;
  TwinDevice device(2 * withheld);
  CacheBlocks blocks(spec, {KvType::f16, KvType::f16}, device);
  device.withhold(withheld);
  const CacheId cache = blocks.open({.slots = 64, .kept = 64, .context = 64});
  const std::int32_t slot = grow_until_full(blocks, cache);
  EXPECT_GT(static_cast<std::size_t>(slot) / 64 * blocks.of(0).block_bytes, withheld / 10 * 9)
      << "old and new pools do not fit together into more than 3/5 of it";
  EXPECT_TRUE(blocks.state());
  EXPECT_GT(device.info().free_bytes, withheld / 2) << "the device reports memory that it does not give";
  const std::size_t moved = blocks.times_moved();
  EXPECT_THROW(blocks.grow(cache, slot), std::bad_alloc);
  EXPECT_EQ(blocks.times_moved(), moved) << "the pool is copied again, although no more memory is free";
}

TEST(DeviceMemory, WithoutABlockForTheFirstSequenceIsNoLastingError) {
  const ModelSpec spec =
      read_model_spec(Gguf::open(source_folder() / "tests/data/arch/llama-f32.gguf").value()).value();
  TwinDevice device(std::size_t{1} << 22);
  CacheBlocks blocks(spec, {KvType::f16, KvType::f16}, device);
  const CacheId cache = blocks.open({.slots = 64, .kept = 64, .context = 64});
  device.withhold(device.info().free_bytes + 1);  // not even an empty allocation succeeds
  EXPECT_THROW(blocks.grow(cache, 0), std::bad_alloc);
  EXPECT_TRUE(blocks.state());
  device.withhold(0);
  blocks.grow(cache, 0);
  EXPECT_EQ(blocks.table(cache).size(), 1u);
}

TEST(DeviceMemory, OfStatesGrowsByMoreThanOneSequence) {
  const ModelSpec spec =
      read_model_spec(Gguf::open(source_folder() / "tests/data/arch2/qwen35/model-interval2.gguf").value())
          .value();
  TwinDevice device;
  StateMemory states(spec, device);
  for (CacheId cache = 0; cache < 40; ++cache)
    states.open(cache, {.slots = 8, .kept = 8, .context = 8, .recent = 8, .frames = 2});
  EXPECT_LT(states.times_moved(), 13u);
}

TEST(DeviceMemory, GoesBackToTheDevice) {
  const auto device = std::make_shared<TwinDevice>();
  {
    const auto model = load(*find_data(bundled_draft), std::make_shared<DeviceBackend>(device)).value();
    const auto session = model->start(0, 1).value();
    const std::vector<Token> text = random_text(5, model->vocabulary(), 1);
    ASSERT_TRUE(session->score(text, TokenTree(text.back())));
    EXPECT_LT(device->info().free_bytes, device->info().bytes);
  }
  EXPECT_EQ(device->info().free_bytes, device->info().bytes);
}

TEST(LostDevice, IsSaidByPassesAndGivesNoDistribution) {
  const OnTwins on(*find_data(bundled_draft));
  EXPECT_TRUE(on.model->check_alive());
  const auto session = on.model->start(0, 1).value();
  std::vector<Token> text = random_text(5, on.model->vocabulary(), 1);
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  on.device->lose();
  EXPECT_EQ(on.model->check_alive().error().message, "twins: the device was lost during a pass");
  const Logits before = session->logits(TokenTree::root);
  EXPECT_TRUE(std::isnan(before.at(0)));
  EXPECT_TRUE(std::isnan(before.top(3).front().logit));
  EXPECT_TRUE(std::isnan(before.log_sum_exp()));
  EXPECT_EQ(before.state().error().message, "twins: the device was lost during a pass");
  text.push_back(5);
  const auto scored = session->score(text, TokenTree(text.back()));
  ASSERT_FALSE(scored);
  EXPECT_EQ(scored.error().message, "twins: the device was lost during a pass");
}

}  // namespace
}  // namespace spectr
