// Tests on a real device, which SPECTR_TEST_DEVICE names in the syntax of --device; skipped if it is unset.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spectr/backend/device/device_backend.h"
#include "spectr/engine/devices.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/models/model_course.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;

/// Returns small models of all kinds and the bundled target.
std::vector<fs::path> models() {
  std::vector<fs::path> files = test::course_models();
  for (const char* const type : {"f16", "q8_0", "q4_0"})
    files.push_back(source_folder() / fmt::format("models/spectr-stories-7m-{}.gguf", type));
  return files;
}

TEST(RealDevice, HasTheBitsOfTheTwinsForEveryModelThatItHasKernelsForAloneAndInCompany) {
  const char* const name = std::getenv("SPECTR_TEST_DEVICE");
  if (name == nullptr) GTEST_SKIP() << "SPECTR_TEST_DEVICE names no device";
  const auto backend = device_backend(name);
  ASSERT_TRUE(backend) << backend.error().message;
  const auto rounding =
      std::string(name).starts_with("Vulkan") ? twin::Rounding::separate : twin::Rounding::fused;
  std::size_t computed = 0;
  for (const fs::path& file : models()) {
    const auto load = [&file](std::shared_ptr<const Backend> where) {
      return Transformer::load(Gguf::open(file).value(), std::move(where),
                               {.kv = {KvType::f16, KvType::f16}});
    };
    const auto model = load(*backend);
    if (!model) continue;
    ++computed;
    const auto device = std::make_shared<TwinDevice>(std::size_t{1} << 40, rounding);
    const auto twins = load(std::make_shared<DeviceBackend>(device)).value();
    EXPECT_EQ(test::course(**model), test::course(*twins)) << file;
    expect_bits_alone_in_company(**model, 2);
  }
  EXPECT_GE(computed, 3) << "the bundled ones";
}

}  // namespace
}  // namespace spectr
