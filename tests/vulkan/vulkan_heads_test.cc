// Attention of every kind and products by head, by Vulkan: the bits of the twins that round each product and
// each sum by itself.
#include <gtest/gtest.h>

#include "spectr/backend/device/twin_device.h"
#include "tests/support/device_attention.h"
#include "tests/support/head_products.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

class VulkanHeads : public OnVulkan<testing::Test> {
 protected:
  TwinDevice twins_{std::size_t{1} << 30, twin::Rounding::separate};
};

TEST_F(VulkanHeads, AttendWithTheBitsOfTheirTwins) {
  for (const AttentionCase& c : attention_cases())
    EXPECT_EQ(attention_bits(*device_, c), attention_bits(twins_, c)) << text_of(c);
}

TEST_F(VulkanHeads, AreMultipliedWithTheBitsOfTheirTwins) {
  for (const HeadProductCase& c : head_product_cases())
    EXPECT_EQ(head_product_bits(*device_, c), head_product_bits(twins_, c)) << text_of(c);
}

TEST_F(VulkanHeads, AreCopied) {
  EXPECT_EQ(copied_heads(*device_), copied_heads_as_defined());
}

}  // namespace
}  // namespace spectr
