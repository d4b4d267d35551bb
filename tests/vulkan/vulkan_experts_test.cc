// Kernel calls of mixtures of experts on Vulkan have the bits of the twins that round each
// multiplication and each addition separately.
#include <gtest/gtest.h>

#include "tests/support/devices/expert_cases.h"
#include "tests/twins/twin_device.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

class VulkanExperts : public OnVulkan<testing::Test> {
 protected:
  static void expect_same_bits(Device& here, const std::vector<WorkOnDevice>& works) {
    TwinDevice twins(std::size_t{1} << 30, twin::Rounding::separate);
    for (const WorkOnDevice& work : works) EXPECT_EQ(work(here), work(twins));
  }
  void expect_same_bits(const std::vector<WorkOnDevice>& works) const { expect_same_bits(*device_, works); }
};

TEST_F(VulkanExperts, AreChosenAndWeighedAsTheirTwinsAre) {
  expect_same_bits(choosing_of_every_kind());
}

TEST_F(VulkanExperts, ThatHaveNoNumberAreChosenAsTheirTwinsAre) {
  expect_same_bits(choosing_without_numbers());
}

TEST_F(VulkanExperts, HaveTheListsOfTheirTwins) {
  expect_same_bits(lists_of_experts());
}

TEST_F(VulkanExperts, MultiplyWithTheBitsOfTheirTwins) {
  expect_same_bits(
      expert_products({TensorType::q8_0, TensorType::q4_k, TensorType::mxfp4, TensorType::bf16}));
}

TEST_F(VulkanExperts, ThatAreLargerThanABindingTogetherAreMultipliedInParts) {
  const auto small = value_of(vulkan::VulkanDevice::open(instance_, *gpu_, {gpu_->limits.alignment, 24'000}));
  for (const TensorType type : {TensorType::q8_0, TensorType::q5_k, TensorType::f16})
    expect_same_bits(*small, products_of(type, 33, 256, {5, 2, 7, 0, 7}));
}

TEST_F(VulkanExperts, AreAddedWithTheBitsOfTheirTwins) {
  expect_same_bits(additions_of_experts());
}

}  // namespace
}  // namespace spectr
