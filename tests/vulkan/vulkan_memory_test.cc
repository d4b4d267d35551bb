// Short passes on Vulkan with features of draft models, and running out of device memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/arch/architectures.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/models/model_course.h"
#include "tests/support/random_tensor.h"
#include "tests/support/real_model.h"
#include "tests/twins/twin_device.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace test;

Result<std::unique_ptr<Transformer>> load(const fs::path& file, std::shared_ptr<const Backend> backend,
                                          const KvChoice& kv = {}) {
  return Transformer::load(Gguf::open(file).value(), std::move(backend), {.kv = kv});
}

class VulkanDraft : public OnVulkan<testing::Test> {
 protected:
  /// Returns the logits of nodes after a text.
  static std::vector<Row> rows_of(const fs::path& file, const Slimming& slimming,
                                  std::shared_ptr<Device> device) {
    const auto model = value_of(Transformer::load(Gguf::open(file).value(),
                                                  std::make_shared<DeviceBackend>(std::move(device)),
                                                  {.kv = {KvType::f16, KvType::f16}, .slimming = slimming}));
    const std::vector<Token> text = random_text(10, model->vocabulary(), 1);
    const auto session = value_of(model->start(0, 4));
    EXPECT_TRUE(session->score(text, random_tree(text.back(), 4, model->vocabulary(), 1)));
    std::vector<Row> rows;
    for (NodeId node = 0; node < 4; ++node) rows.push_back(row_of(*session, node));
    return rows;
  }
  void expect_bits_of_twins(const fs::path& file, const Slimming& slimming = {}) {
    const auto twins = std::make_shared<TwinDevice>(std::size_t{1} << 30, twin::Rounding::separate);
    EXPECT_EQ(rows_of(file, slimming, device_), rows_of(file, slimming, twins));
  }
};

TEST_F(VulkanDraft, OfAShortListHasTheBitsOfTheTwins) {
  expect_bits_of_twins(*find_data(bundled_draft),
                       {.type = TensorType::q4_0, .shortlist = {1, 2, 3, 5, 8, 1300}});
  expect_bits_of_twins(source_folder() / "tests/data/arch/gemma2-f32.gguf", {.shortlist = {2, 3, 5, 7}});
}

TEST_F(VulkanDraft, WithEmbeddingsByLayerHasTheBitsOfTheTwins) {
  expect_bits_of_twins(source_folder() / "tests/data/arch2/gemma4/model.gguf");
}

class VulkanMemory : public OnVulkan<testing::Test> {};

TEST_F(VulkanMemory, ThatIsShortIsSaidBeforeAnythingIsUploaded) {
  const auto hog = device_->allocate(device_->info().free_bytes - 300'000);
  const auto model = load(*find_data(bundled_draft), std::make_shared<DeviceBackend>(device_));
  ASSERT_FALSE(model);
  EXPECT_THAT(
      model.error().message,
      testing::AllOf(testing::StartsWith(gpu_->name + " (" + gpu_->description + "): "),
                     testing::HasSubstr("GB on the device, of which 0.0003 GB are free; --device none")));
}

TEST_F(VulkanMemory, ThatIsShortForATextEndsThatTextAlone) {
  const auto model =
      load(source_folder() / "tests/data/arch/llama-f32.gguf", std::make_shared<DeviceBackend>(device_))
          .value();
  std::vector<Token> text = random_text(80, model->vocabulary(), 1);
  const auto first = model->start(0, 1).value(), second = model->start(0, 1).value();
  for (int i = 0; i < 3; ++i) {  // a pass holds its logits until the next one has its own
    ASSERT_TRUE(first->score(text, TokenTree(text.back())));
    text.push_back(5);
  }
  const auto hog = device_->allocate(device_->info().free_bytes);
  std::vector<Token> longer = random_text(600, model->vocabulary(), 2);
  bool failed = false;
  try {
    failed = !second->score(longer, TokenTree(longer.back()));
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  EXPECT_TRUE(failed);
  ASSERT_TRUE(first->score(text, TokenTree(text.back())));
}

TEST_F(VulkanMemory, OfAllKeysAndValuesIsAtMostABinding) {
  const auto small =
      value_of(vulkan::VulkanDevice::open(instance_, *gpu_, {gpu_->limits.alignment, 100'000}));
  const auto model =
      load(source_folder() / "tests/data/arch/llama-f32.gguf", std::make_shared<DeviceBackend>(small))
          .value();
  std::vector<Token> text = random_text(5, model->vocabulary(), 1);
  std::vector<std::unique_ptr<Session>> sessions;
  bool failed = false;
  while (!failed && sessions.size() < 100) {  // each session takes a block
    sessions.push_back(model->start(0, 1).value());
    try {
      failed = !sessions.back()->score(text, TokenTree(text.back()));
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  }
  EXPECT_TRUE(failed);
  text.push_back(5);
  const auto scored = sessions.front()->score(text, TokenTree(text.back()));
  EXPECT_TRUE(scored) << scored.error().message;
}

TEST_F(VulkanMemory, HoldsWhatWasUploadedLastAndGoesBack) {
  const std::size_t before = device_->info().free_bytes;
  {
    // Exceeds the staging buffer.
    std::vector<std::uint32_t> numbers(5'000'000);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i * 7);
    const Numbers large = send(*device_, numbers);
    const std::vector<std::uint32_t> news = {1, 2, 3};
    ASSERT_TRUE(device_->upload(large.at().behind(40), std::as_bytes(std::span(news))));
    ASSERT_TRUE(device_->upload(large.at().behind(44), std::as_bytes(std::span(news))));
    numbers[10] = 1;
    for (std::uint32_t i = 0; i < 3; ++i) numbers[11 + i] = news[i];
    EXPECT_EQ(bits(*device_, large), numbers);
    const Numbers copy{device_->allocate(large.memory->bytes())};
    ASSERT_TRUE(device_->copy(copy.at().behind(4), large.at(), large.memory->bytes() - 4));
    EXPECT_EQ(bits(*device_, copy)[13], numbers[12]);
    {
      const Numbers forgotten = send(*device_, news);
    }
  }
  EXPECT_EQ(device_->info().free_bytes, before);
}

TEST_F(VulkanMemory, IsCopiedInOneSubmission) {
  const Numbers from = send(*device_, random_floats(4000, 1)), to = zeros(*device_, 16000);
  const std::size_t before = device_->submitted();
  std::vector<DeviceCopy> copies;
  for (std::size_t i = 0; i < 10; ++i)
    copies.push_back({to.at().behind(1600 * i), from.at().behind(1600 * (9 - i)), 1600});
  ASSERT_TRUE(device_->copy(copies));
  EXPECT_EQ(device_->submitted(), before + 1);
  const auto there = bits(*device_, from), here = bits(*device_, to);
  for (std::size_t i = 0; i < 4000; ++i) EXPECT_EQ(here[i], there[400 * (9 - i / 400) + i % 400]);
}

}  // namespace
}  // namespace spectr
