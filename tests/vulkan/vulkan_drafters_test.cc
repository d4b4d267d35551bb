// Trained drafters on Vulkan: with the bits of the twins that round each multiplication and each addition
// separately.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "spectr/backend/device/device_backend.h"
#include "tests/support/models/drafter_course.h"
#include "tests/twins/twin_device.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

class VulkanDrafters : public OnVulkan<testing::TestWithParam<const char*>> {};

INSTANTIATE_TEST_SUITE_P(Kinds, VulkanDrafters,
                         testing::Values("eagle3-norm", "dflash-16-window", "mtp-glm4moe"), name_of_drafter);

TEST_P(VulkanDrafters, HaveTheBitsOfTheTwins) {
  const DrafterCase here(GetParam(), std::make_shared<DeviceBackend>(device_));
  const DrafterCase twins(GetParam(), std::make_shared<DeviceBackend>(std::make_shared<TwinDevice>(
                                          std::size_t{1} << 30, twin::Rounding::separate)));
  expect_equal_drafts(here, twins, 0.0);
}

}  // namespace
}  // namespace spectr
