// On a device of this machine, which SPECTR_TEST_DEVICE names as --device does. Skipped where it does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spectr/backend/device/device_backend.h"
#include "spectr/backend/device/twin_device.h"
#include "spectr/engine/devices.h"
#include "tests/support/data.h"
#include "tests/support/model_course.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

/// Small models of all kinds, and the bundled target, whose heads every device has kernels for.
std::vector<fs::path> models() {
  std::vector<fs::path> files = test::course_models();
  for (const char* const type : {"f16", "q8_0", "q4_0"})
    files.push_back(source_folder() / fmt::format("models/spectr-stories-7m-{}.gguf", type));
  return files;
}

// Kernels by Vulkan have the twins' bits where these are sums and products alone.
TEST(RealDevice, HasTheLogitsOfTheTwinsForEveryModelThatItHasKernelsFor) {
  const char* const name = std::getenv("SPECTR_TEST_DEVICE");
  if (name == nullptr) GTEST_SKIP() << "SPECTR_TEST_DEVICE names no device";
  const auto backend = device_backend(name);
  ASSERT_TRUE(backend) << backend.error().message;
  const double bound = std::string(name).starts_with("Vulkan") ? 1e-3 : 0.0;
  std::size_t computed = 0;
  for (const fs::path& file : models()) {
    const auto load = [&file](std::shared_ptr<const Backend> where) {
      return Transformer::load(Gguf::open(file).value(), std::move(where),
                               {.kv = {KvType::f16, KvType::f16}});
    };
    const auto model = load(*backend);
    if (!model) continue;
    ++computed;
    const auto twins = load(std::make_shared<DeviceBackend>(std::make_shared<TwinDevice>())).value();
    EXPECT_LE(test::largest_distance(test::course(**model), test::course(*twins)), bound) << file;
  }
  EXPECT_GE(computed, 3) << "the bundled ones";
}

}  // namespace
}  // namespace spectr
