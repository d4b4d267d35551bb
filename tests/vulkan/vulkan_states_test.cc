// Recurrent layers on Vulkan have the bits of the twins that round all operations separately.
#include <gtest/gtest.h>

#include "tests/support/models/recurrent_course.h"
#include "tests/twins/twin_device.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

class VulkanStates : public OnVulkan<testing::TestWithParam<RecurrentShape>> {};

TEST_P(VulkanStates, HaveTheBitsOfTheTwins) {
  const auto bits_on = [](Device& device) {
    std::vector<std::vector<float>> all;
    recurrent_course(device, GetParam(), [&](const RecurrentRow& row) { all.push_back(row.out); });
    return all;
  };
  TwinDevice twins(std::size_t{1} << 30, twin::Rounding::separate);
  EXPECT_EQ(bits_on(*device_), bits_on(twins));
}

INSTANTIATE_TEST_SUITE_P(Shapes, VulkanStates,
                         testing::Values(RecurrentShape{2, 4, 40, 4, 70}, RecurrentShape{1, 1, 6, 2, 6},
                                         RecurrentShape{1, 2, 130, 16, 131}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.value_heads) + "HeadsOf" +
                                  std::to_string(shape.param.dim);
                         });

}  // namespace
}  // namespace spectr
