// Whole passes of models have the bits of the twins on the mock of the CUDA driver, which runs fibers.
#include <gtest/gtest.h>

#include <filesystem>

#include "spectr/backend/cuda/cuda_device.h"
#include "tests/support/data.h"
#include "tests/support/devices/mock_cuda.h"
#include "tests/support/devices/on_twins.h"
#include "tests/support/models/model_course.h"
#include "tests/support/real_model.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

namespace fs = std::filesystem;
using namespace test;
using cuda::CudaDevice;

/// Returns some models of each kind, not all, because fibers are slow.
std::vector<fs::path> models() {
  std::vector<fs::path> files = {*find_data(bundled_draft)};
  for (const char* name : {"arch/gemma3-f32.gguf", "arch/llama-f32.gguf", "arch/llama-formats-256.gguf",
                           "arch2/opt/pre-norm.gguf", "arch2/phi3/model.gguf",
                           "arch2/qwen35/model-interval2.gguf", "arch/qwen3moe-f32.gguf"})
    files.push_back(source_folder() / "tests/data" / name);
  return files;
}

class CudaPasses : public testing::TestWithParam<fs::path> {};

TEST_P(CudaPasses, HaveTheBitsOfTheTwins) {
  const MockCuda mock;
  const auto load_on = [](std::shared_ptr<Device> device) {
    return value_of(
        load(GetParam(), std::make_shared<DeviceBackend>(std::move(device)), {KvType::f16, KvType::f16}));
  };
  const auto on_cuda = load_on(value_of(CudaDevice::open(mock.driver(), 0, MockCuda::image)));
  const auto on_twins = load_on(std::make_shared<TwinDevice>());
  if (GetParam() == *find_data(bundled_draft)) {
    EXPECT_EQ(course(*on_cuda, 9), course(*on_twins, 9));
  } else {
    EXPECT_EQ(course(*on_cuda, 5, 2, 3), course(*on_twins, 5, 2, 3));
  }
  EXPECT_GT(mock.launched(), 0);
}

INSTANTIATE_TEST_SUITE_P(Models, CudaPasses, testing::ValuesIn(models()),
                         [](const auto& file) { return test_name_of(file.param); });

}  // namespace
}  // namespace spectr
