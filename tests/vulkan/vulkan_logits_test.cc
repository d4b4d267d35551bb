// Logits on Vulkan, and queries of them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spectr/backend/device/device_logits.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/random_tensor.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

class VulkanLogits : public OnVulkan<testing::Test> {};

TEST_F(VulkanLogits, AnswerAsARowHereDoes) {
  for (const std::size_t size : {1000, 1025, 5000}) {
    std::vector<float> row = random_floats(size, 3);
    for (std::size_t i = 0; i < size; i += 7) row[i] = std::round(row[i] * 4) / 4;  // makes ties
    row[17] = -std::numeric_limits<float>::infinity();
    DeviceLogits rows({2}, size, *device_);
    ASSERT_TRUE(
        device_->upload(rows.begin(2).at.behind(size * sizeof(float)), std::as_bytes(std::span(row))));
    const std::size_t before = device_->submitted();
    const Logits there = rows.row(1), here = std::span<const float>(row);
    for (const std::size_t k : {1, 40, 256}) {
      const auto found = there.top(k), expected = here.top(k);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].token, expected[i].token);
        EXPECT_EQ(found[i].logit, expected[i].logit);
      }
    }
    for (const double temperature : {0.3, 1.0, 2.0})
      EXPECT_NEAR(there.log_sum_exp(temperature), here.log_sum_exp(temperature), 6e-6);
    EXPECT_EQ(device_->submitted(), before + 6);  // one per query
    EXPECT_EQ(there.at(0), row[0]);
    EXPECT_EQ(rows.fetched(), 0u);
  }
}

TEST_F(VulkanLogits, AreAskedByTheRecordingOfTheFirstQuestion) {
  const std::vector<float> numbers = random_floats(2 * 5000, 1);
  const auto ask = [](const DeviceLogits& rows) {
    for (const std::size_t k : {1, 40}) rows.row(0).top(k);
    return rows.row(1).log_sum_exp(0.7);
  };
  DeviceLogits rows({2}, 5000, *device_);
  std::size_t recorded = 0;
  double first = 0;
  for (int pass = 0; pass < 3; ++pass) {
    ASSERT_TRUE(device_->upload(rows.begin(2).at, std::as_bytes(std::span(numbers))));
    const double found = ask(rows);
    if (pass == 0) {
      recorded = device_->recorded();
      first = found;
    }
    EXPECT_EQ(device_->recorded(), recorded);
    EXPECT_EQ(found, first);
  }
  // Recordings about freed memory are dropped: the next memory can be described at the same address.
  for (int i = 0; i < 3; ++i) {
    DeviceLogits others({2}, 5000, *device_);
    ASSERT_TRUE(device_->upload(others.begin(2).at, std::as_bytes(std::span(numbers))));
    EXPECT_EQ(ask(others), first);
    recorded += 3;
    EXPECT_EQ(device_->recorded(), recorded);
  }
}

TEST_F(VulkanLogits, ComeWithWhatWasUploadedBeforeHoweverMuchTheyAre) {
  const std::vector<float> numbers = random_floats(1'500'000, 1);
  const Numbers from = send(*device_, numbers), to{device_->allocate(from.memory->bytes())};
  const call::AnyCall copy = call::Copy{to.rows(1000), from.rows(1000), 1500, 1000};
  std::vector<float> found(numbers.size());
  ASSERT_TRUE(device_->run_and_download({&copy, 1}, std::as_writable_bytes(std::span(found)), to.at()));
  EXPECT_EQ(found, numbers);
}

}  // namespace
}  // namespace spectr
