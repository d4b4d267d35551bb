// Models on Vulkan from the command line, with a driver that computes on the CPU.
#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>
#include <string>

#include "tests/program/spectr.h"
#include "tests/support/data.h"

namespace spectr::test {
namespace {

Arguments small_text(const Arguments& more) {
  return Arguments{"generate", "-m", stranger(), "-p", "Once upon a time", "-n", "3", "--temp", "0"} + more;
}

class VulkanProgram : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome listed = spectr({"generate", "--list-devices"}, with_vulkan());
    std::smatch found;
    if (std::regex_search(listed.out, found,
                          std::regex("(Vulkan[0-9]+): llvmpipe .*\\([0-9]+ MiB, [0-9]+ MiB free\\)"))) {
      device_ = found[1];
      return;
    }
    const char* const why = "no Vulkan driver that computes on the processor (Debian: mesa-vulkan-drivers)";
    if (std::getenv("SPECTR_REQUIRE_DEVICE") != nullptr) FAIL() << why;
    GTEST_SKIP() << why;
  }
  std::string device_;
};

TEST_F(VulkanProgram, WritesTheTextOfTheProcessor) {
  const Outcome expected = spectr(small_text({}));
  ASSERT_EQ(expected.status, 0) << expected.err;
  const Outcome found = spectr(small_text({"--device", device_}), with_vulkan());
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_EQ(found.out, expected.out);
}

TEST_F(VulkanProgram, TakesADriverThatIsTheProcessorOnlyByName) {
  const Outcome listed = spectr({"generate", "--list-devices"}, with_vulkan());
  if (std::regex_search(listed.out, std::regex("CUDA0|Vulkan[0-9]+: (?!llvmpipe)")))
    GTEST_SKIP() << "there is a GPU";
  const Outcome found = spectr(small_text({"--device", "auto"}), with_vulkan());
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.err, testing::HasSubstr(
                             "--device auto: there is no device but the processor; computing on the CPU\n"));
}

TEST_F(VulkanProgram, SaysThatThereIsNoDriverOrNoSuchDevice) {
  const Surroundings none{
      .variables = {{"VK_DRIVER_FILES", "/nonexistent"}, {"VK_ICD_FILENAMES", "/nonexistent"}}};
  expect_error(small_text({"--device", "Vulkan0"}),
               "--device Vulkan0: there is no Vulkan driver (the loader finds none)", none);
  expect_error(small_text({"--device", "Vulkan99"}),
               "--device Vulkan99: there is no such device; see --list-devices", with_vulkan());
}

}  // namespace
}  // namespace spectr::test
