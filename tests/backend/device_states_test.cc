// Recurrent layers on devices: kernel calls agree with the definitions however a sequence is split into
// passes. Also tests the memory for the states of sequences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>

#include "spectr/backend/cuda/cuda_device.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/device/state_plan.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/devices/mock_cuda.h"
#include "tests/support/models/recurrent_course.h"
#include "tests/support/value_of.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;

constexpr RecurrentShape shapes[] = {{.key_heads = 2, .value_heads = 4, .dim = 40, .kernel = 4, .width = 70},
                                     {.key_heads = 1, .value_heads = 1, .dim = 6, .kernel = 2, .width = 6},
                                     {.key_heads = 3, .value_heads = 3, .dim = 7, .kernel = 16, .width = 131},
                                     {.key_heads = 1, .value_heads = 2, .dim = 130, .kernel = 3, .width = 1}};

std::string name_of_shape(const testing::TestParamInfo<RecurrentShape>& shape) {
  return std::to_string(shape.param.value_heads) + "HeadsOf" + std::to_string(shape.param.dim);
}

TEST(TwinLogarithms, AreExactToAFewRoundings) {
  for (int i = 0; i <= 20'000; ++i) {
    const float x = static_cast<float>(i) / 20'000.0f;
    EXPECT_NEAR(twin::log_of_one_and(x), std::log1p(double{x}), 3e-7 * x) << x;
  }
  for (int i = -80'000; i <= 40'000; ++i) {
    const float x = static_cast<float>(i) / 1000.0f;
    const double exact = std::log1p(std::exp(double{x}));
    for (const auto rounding : {twin::Rounding::fused, twin::Rounding::separate})
      EXPECT_NEAR(twin::softplus(x, rounding), exact, 6e-7 * exact) << x;
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(twin::softplus(-infinity), 0.0f);
  EXPECT_EQ(twin::softplus(infinity), infinity);
  EXPECT_TRUE(std::isnan(twin::softplus(std::numeric_limits<float>::quiet_NaN())));
}

class RecurrentCalls : public testing::TestWithParam<RecurrentShape> {};

TEST_P(RecurrentCalls, AreNearTheDefinitionsAndHaveTheSameBitsForTheSamePath) {
  for (const auto rounding : {twin::Rounding::fused, twin::Rounding::separate}) {
    TwinDevice device(std::size_t{1} << 30, rounding);
    std::map<std::vector<Token>, std::vector<float>> found;
    int again = 0;
    recurrent_course(device, GetParam(), [&](const RecurrentRow& row) {
      const auto [at, is_new] = found.try_emplace(row.path, row.out);
      again += is_new ? 0 : 1;
      ASSERT_EQ(at->second, row.out) << "after " << row.path.size() << " tokens";
    });
    EXPECT_GT(again, 9);
    int next = 0;
    for (const auto& [path, out] : found) {
      if (next++ % 4 != 0) continue;  // the definition is slow
      const std::vector<double> expected = defined(GetParam(), path);
      for (std::size_t i = 0; i < out.size(); ++i)
        ASSERT_NEAR(out[i], expected[i], 2e-5 * (1 + std::abs(expected[i]))) << i << " after " << path.size();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RecurrentCalls, testing::ValuesIn(shapes), name_of_shape);

class RecurrentKernels : public testing::TestWithParam<RecurrentShape> {};

TEST_P(RecurrentKernels, HaveTheBitsOfTheirTwins) {
  const auto bits_on = [](Device& device) {
    std::vector<std::vector<float>> all;
    recurrent_course(device, GetParam(), [&](const RecurrentRow& row) { all.push_back(row.out); });
    return all;
  };
  TwinDevice twins;
  const MockCuda mock;
  const auto cuda = value_of(cuda::CudaDevice::open(mock.driver(), 0, test::MockCuda::image));
  EXPECT_EQ(bits_on(*cuda), bits_on(twins));
}

INSTANTIATE_TEST_SUITE_P(Shapes, RecurrentKernels, testing::Values(shapes[0], shapes[2]), name_of_shape);

class StatesOfSequences : public testing::Test {
 protected:
  static ModelSpec spec() {
    DeltaNetSpec delta{};
    delta.key_heads = 1;
    delta.value_heads = 3;
    delta.head_dim = 5;
    delta.kernel = 3;
    ModelSpec spec{};
    spec.layers.resize(2);
    spec.layers[1].mixer = delta;
    return spec;
  }
  static CacheSize size_of(std::size_t recent, std::size_t frames) {
    return {.slots = 99, .kept = 99, .context = 90, .recent = recent, .frames = frames};
  }
  /// Returns the numbers of `count` tokens or frames at a place.
  std::vector<std::uint32_t> numbers(StatePlace place, std::size_t count) {
    std::vector<std::uint32_t> all(count);
    const Slice at = memory_.of(1).pool.behind(static_cast<std::size_t>(place) * 8);
    EXPECT_TRUE(device_.download(std::as_writable_bytes(std::span(all)), at));
    return all;
  }
  void fill(StatePlace place, std::size_t count, std::uint32_t first) {
    std::vector<std::uint32_t> all(count);
    for (std::uint32_t& number : all) number = first++;
    const Slice at = memory_.of(1).pool.behind(static_cast<std::size_t>(place) * 8);
    ASSERT_TRUE(device_.upload(at, std::as_bytes(std::span(all))));
  }
  std::size_t token_numbers() { return memory_.bytes(size_of(1, 0)) / sizeof(float); }
  std::size_t frame_numbers() { return memory_.bytes(size_of(0, 1)) / sizeof(float); }
  /// Returns all numbers of the cache.
  std::vector<std::vector<std::uint32_t>> all_of(CacheId cache, const CacheSize& size) {
    std::vector<std::vector<std::uint32_t>> all;
    for (std::size_t i = 0; i < size.recent; ++i)
      all.push_back(numbers(memory_.token(cache, i), token_numbers()));
    for (std::size_t i = 0; i < size.frames; ++i)
      all.push_back(numbers(memory_.frame(cache, i), frame_numbers()));
    return all;
  }
  void fill_all(CacheId cache, const CacheSize& size, std::uint32_t first) {
    for (std::size_t i = 0; i < size.recent; ++i, first += 1000)
      fill(memory_.token(cache, i), token_numbers(), first);
    for (std::size_t i = 0; i < size.frames; ++i, first += 1000)
      fill(memory_.frame(cache, i), frame_numbers(), first);
  }

  ModelSpec spec_ = spec();
  TwinDevice device_{1'000'000};
  StateMemory memory_{spec_, device_};
};

TEST_F(StatesOfSequences, LieApartAndStayWhereOthersComeAndGo) {
  const CacheSize small = size_of(5, 1), large = size_of(9, 3);
  memory_.open(0, small);
  memory_.open(1, large);
  memory_.open(2, small);
  fill_all(0, small, 1);
  fill_all(1, large, 100'001);
  fill_all(2, small, 200'001);
  const auto first = all_of(0, small), second = all_of(1, large), third = all_of(2, small);
  EXPECT_NE(first, third);
  memory_.close(1);
  memory_.open(3, small);  // where the closed cache was
  memory_.open(4, large);
  memory_.take_scratch(4);
  fill_all(3, small, 300'001);
  fill_all(4, large, 400'001);
  fill(memory_.scratch(3), 75, 7);
  EXPECT_EQ(all_of(0, small), first);
  EXPECT_EQ(all_of(2, small), third);
  EXPECT_EQ(memory_.token(3, 0), memory_.token(0, 4) + (memory_.token(0, 4) - memory_.token(0, 3)) +
                                     static_cast<int>(frame_numbers() / 2));
}

TEST_F(StatesOfSequences, AreCountedAndGoBack) {
  const CacheSize size = size_of(9, 3);
  const std::size_t before = device_.info().free_bytes;
  memory_.open(0, size);
  EXPECT_EQ(before - device_.info().free_bytes, memory_.bytes(size));
  const std::size_t moved = memory_.times_moved();
  for (int i = 0; i < 5; ++i) {
    memory_.close(0);
    memory_.open(0, size);
  }
  EXPECT_EQ(memory_.times_moved(), moved);
  EXPECT_EQ(before - device_.info().free_bytes, memory_.bytes(size));
}

TEST_F(StatesOfSequences, ForWhichThereIsNoMemoryChangeNothing) {
  const CacheSize size = size_of(9, 3);
  memory_.open(0, size);
  fill_all(0, size, 1);
  const auto there = all_of(0, size);
  EXPECT_THROW(memory_.open(1, size_of(100'000, 3)), std::bad_alloc);
  const std::size_t many = device_.info().free_bytes / memory_.bytes(size);
  EXPECT_THROW(memory_.open(1, size_of(9 * many, 3 * many)), std::bad_alloc);
  EXPECT_THROW(memory_.take_scratch(100'000), std::bad_alloc);
  memory_.open(1, size);
  EXPECT_EQ(all_of(0, size), there);
}

TEST_F(StatesOfSequences, MoveFromSlotToSlotOfTheRing) {
  const CacheSize size = size_of(9, 1);
  memory_.open(0, size);
  memory_.open(1, size);
  fill_all(0, size, 1);
  fill_all(1, size, 500'001);
  auto expected = all_of(0, size);
  const auto other = all_of(1, size);
  memory_.add({.cache = 0, .from = 13, .to = 10});
  memory_.add({.cache = 0, .from = 14, .to = 13});
  memory_.add({.cache = 1, .from = 14, .to = 13});
  memory_.close(1);
  EXPECT_EQ(memory_.moves().size(), 4u);
  memory_.open(2, size);
  memory_.copy({.from = 0, .to = 2, .slots = 20, .frames = {0}});  // moves are executed first
  EXPECT_TRUE(memory_.moves().empty());
  expected[1] = expected[4];
  expected[4] = expected[5];
  EXPECT_EQ(all_of(0, size), expected);
  EXPECT_EQ(all_of(2, size), expected);
}

TEST_F(StatesOfSequences, AreCopiedAsFarAsTheyAreAskedFor) {
  const CacheSize size = size_of(9, 3);
  memory_.open(0, size);
  memory_.open(1, size);
  fill_all(0, size, 1);
  fill_all(1, size, 500'001);
  auto expected = all_of(1, size);
  const auto from = all_of(0, size);
  memory_.copy({.from = 0, .to = 1, .slots = 4, .frames = {1}});
  for (std::size_t i = 0; i < 4; ++i) expected[i] = from[i];
  expected[9 + 1] = from[9 + 1];
  EXPECT_EQ(all_of(1, size), expected);
}

class RecurrentLayersOnTwins : public testing::TestWithParam<const char*> {
 protected:
  void expect_text(std::size_t tokens) {
    const std::vector<Token> text(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(tokens));
    ASSERT_TRUE(session_->score(text, TokenTree(text.back())));
    EXPECT_EQ(row_of(*session_, TokenTree::root), alone(*model_, text)) << tokens << " tokens";
  }

  std::unique_ptr<Transformer> model_ =
      Transformer::load(Gguf::open(source_folder() / "tests/data" / GetParam()).value(),
                        std::make_shared<DeviceBackend>(std::make_shared<TwinDevice>()))
          .value();
  std::vector<Token> text_ = random_text(300, model_->vocabulary(), 1);
  std::unique_ptr<Session> session_ = model_->start(512, 24).value();
};

TEST_P(RecurrentLayersOnTwins, HaveTheBitsOfATextAtOnceForOneInPieces) {
  for (std::size_t tokens = 1; tokens <= 70; tokens += tokens % 3 + 2) expect_text(tokens);
  expect_text(300);
}

TEST_P(RecurrentLayersOnTwins, ReadAgainWhatIsTakenBackWithTheSameBits) {
  expect_text(300);
  for (const std::size_t left : {299, 290, 200, 40, 1}) {
    session_->rewind(left);
    expect_text(left + 1);
  }
  expect_text(300);
}

TEST_P(RecurrentLayersOnTwins, HaveTheBitsOfItsTextForADraftThatPassesSeveralStates) {
  const std::vector<Token> text(text_.begin(), text_.begin() + 10);
  TokenTree tree(text.back());
  NodeId last = TokenTree::root;
  while (tree.size() < 24) last = tree.child(last, text_[static_cast<std::size_t>(tree.size()) + 9]);
  ASSERT_TRUE(session_->score(text, tree));
  for (NodeId node = 0; node < tree.size(); node += 2)
    ASSERT_EQ(row_of(*session_, node), alone(*model_, text_at(text, tree, node))) << node;
}

INSTANTIATE_TEST_SUITE_P(Models, RecurrentLayersOnTwins,
                         testing::Values("arch2/qwen35/model-interval2.gguf", "arch2/lfm2/model.gguf"),
                         [](const auto& model) {
                           return std::string(model.index == 0 ? "DeltaNets" : "ShortConvolutions");
                         });

}  // namespace
}  // namespace spectr
