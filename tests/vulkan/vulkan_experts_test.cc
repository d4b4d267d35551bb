// Kernel calls of mixtures of experts by Vulkan: the bits of the twins that round each product and each sum
// by itself.
#include <gtest/gtest.h>

#include <limits>

#include "spectr/backend/device/twin_device.h"
#include "tests/support/expert_calls.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

class VulkanExperts : public OnVulkan<testing::Test> {
 protected:
  template <class Work>
  void expect_same_bits(Device& here, const Work& work) const {
    TwinDevice twins(std::size_t{1} << 30, twin::Rounding::separate);
    EXPECT_EQ(work(here), work(twins));
  }
  template <class Work>
  void expect_same_bits(const Work& work) const {
    expect_same_bits(*device_, work);
  }
};

TEST_F(VulkanExperts, AreChosenAndWeighedAsTheirTwinsAre) {
  for (const Choosing& how : all_choosing())
    expect_same_bits([&](Device& on) { return bits_of(choose(on, how, how.z())); });
}

TEST_F(VulkanExperts, ThatHaveNoNumberAreChosenAsTheirTwinsAre) {
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& z : {std::vector<float>{nan, -infinity, 0.0f, -0.0f, -nan, infinity},
                                      std::vector<float>{nan, nan, nan, nan, nan, nan}}) {
    for (const std::size_t groups : {1, 3}) {
      const Choosing how{.gating = ExpertsSpec::Gating::sigmoid,
                         .experts = 6,
                         .used = 4,
                         .groups = groups,
                         .groups_used = groups == 1 ? std::size_t{1} : 2,
                         .rows = 1};
      expect_same_bits([&](Device& on) { return choose(on, how, z).experts; });
    }
  }
}

TEST_F(VulkanExperts, HaveTheListsOfTheirTwins) {
  for (const Mixture& of :
       {Mixture{1, 1, 1, 0, 1}, {5, 3, 4, 0, 4}, {9, 4, 16, 5, 6}, {70, 2, 3, 0, 3}, {270, 2, 700, 20, 600}})
    expect_same_bits([&](Device& on) { return bits(on, lists_of(on, of)); });
}

TEST_F(VulkanExperts, MultiplyWithTheBitsOfTheirTwins) {
  for (const TensorType type : {TensorType::q8_0, TensorType::q4_k, TensorType::mxfp4, TensorType::bf16}) {
    constexpr std::size_t rows = 20, cols = 256;
    for (const Mixture& of : {Mixture{1, 2, 8, 0, 8}, {7, 2, 3, 1, 2}}) {
      const ExpertMatrices matrices(type, rows, cols, of.blocks);
      for (const std::size_t sharers : {of.used, std::size_t{1}}) {
        const std::vector<float> x = random_floats(of.slots() / sharers * cols, 2);
        expect_same_bits([&](Device& on) { return bits_of(expert_product(on, of, matrices, sharers, x)); });
      }
    }
  }
}

TEST_F(VulkanExperts, MultiplyManyColumnsWithTheBitsOfTheirTwins) {
  const Mixture of{3, 2, 4, 0, 4};
  for (const auto& [type, cols] : {std::pair{TensorType::q8_0, std::size_t{2336}}, {TensorType::f16, 2113}}) {
    const ExpertMatrices matrices(type, 17, cols, of.blocks);
    const std::vector<float> x = random_floats(of.rows * cols, 2);
    expect_same_bits([&](Device& on) { return bits_of(expert_product(on, of, matrices, of.used, x)); });
  }
}

TEST_F(VulkanExperts, ThatAreLargerThanABindingTogetherAreMultipliedInParts) {
  const auto small = value_of(vulkan::VulkanDevice::open(instance_, *gpu_, {gpu_->limits.alignment, 24'000}));
  const Mixture of{5, 2, 7, 0, 7};
  for (const TensorType type : {TensorType::q8_0, TensorType::q5_k, TensorType::f16}) {
    const ExpertMatrices matrices(type, 33, 256, of.blocks);
    const std::vector<float> x = random_floats(of.rows * 256, 2);
    expect_same_bits(*small,
                     [&](Device& on) { return bits_of(expert_product(on, of, matrices, of.used, x)); });
  }
}

TEST_F(VulkanExperts, MultiplyRowsOfSeveralSlabsWithTheBitsOfTheirTwins) {
  const Mixture of{35, 2, 2, 0, 2};
  const ExpertMatrices matrices(TensorType::q8_0, 16, 32, of.blocks);
  const std::vector<float> x = random_floats(of.slots() * 32, 2);
  expect_same_bits([&](Device& on) { return bits_of(expert_product(on, of, matrices, 1, x)); });
}

TEST_F(VulkanExperts, AreAddedWithTheBitsOfTheirTwins) {
  for (const Mixture& of : {Mixture{1, 1, 1, 0, 1}, {5, 3, 4, 0, 4}, {9, 4, 16, 5, 6}}) {
    for (const std::size_t cols : {5, 600})
      expect_same_bits([&](Device& on) { return bits_of(combined(on, of, cols)); });
  }
}

}  // namespace
}  // namespace spectr
