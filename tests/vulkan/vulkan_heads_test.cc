// Attention of every kind and products per head on Vulkan have the bits of the twins that round each
// multiplication and each addition separately.
#include <gtest/gtest.h>

#include "spectr/backend/device/device_backend.h"
#include "tests/support/devices/device_attention.h"
#include "tests/support/devices/head_products.h"
#include "tests/support/models/latent_model.h"
#include "tests/support/models/model_course.h"
#include "tests/twins/twin_device.h"
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

// Tests latent attention of whole models: one matrix per head, in floats and in panels.
TEST_F(VulkanHeads, OfModelsHaveTheBitsOfTheTwins) {
  const auto twins = std::make_shared<TwinDevice>(std::size_t{1} << 30, twin::Rounding::separate);
  for (const LatentModel& model :
       {LatentModel{TensorType::f32, 3, 6, 4, 5, 7}, {TensorType::q8_0, 2, 64, 16, 32, 24}}) {
    const std::vector<std::byte> file = file_of(model);
    const auto load = [&](std::shared_ptr<Device> device) {
      return value_of(Transformer::load(value_of(Gguf::parse(file, "latent.gguf")),
                                        std::make_shared<DeviceBackend>(std::move(device)),
                                        {.kv = {KvType::q8_0, KvType::f16}}));
    };
    EXPECT_EQ(course(*load(device_), 20), course(*load(twins), 20));
  }
}

}  // namespace
}  // namespace spectr
