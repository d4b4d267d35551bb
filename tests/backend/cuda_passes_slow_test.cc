// Whole passes of models have the bits of the twins on the mock of the CUDA driver, which runs fibers, also
// if kernels read before their predecessors have written anything.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "spectr/backend/cuda/cuda_device.h"
#include "tests/support/data.h"
#include "tests/support/devices/device_products.h"
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

std::unique_ptr<Transformer> load_on(std::shared_ptr<Device> device, const fs::path& file) {
  return value_of(load(file, std::make_shared<DeviceBackend>(std::move(device)), {KvType::f16, KvType::f16}));
}
std::shared_ptr<CudaDevice> open(const MockCuda& mock) {
  return value_of(CudaDevice::open(mock.driver(), 0, MockCuda::image));
}

class CudaPasses : public testing::TestWithParam<fs::path> {};

TEST_P(CudaPasses, HaveTheBitsOfTheTwins) {
  const MockCuda mock;
  const auto on_cuda = load_on(open(mock), GetParam()),
             on_twins = load_on(std::make_shared<TwinDevice>(), GetParam());
  if (GetParam() == *find_data(bundled_draft)) {
    EXPECT_EQ(course(*on_cuda, 9), course(*on_twins, 9));
  } else {
    EXPECT_EQ(course(*on_cuda, 5, 2, 3), course(*on_twins, 5, 2, 3));
  }
  EXPECT_GT(mock.launched(), 0);
}

TEST_P(CudaPasses, ReadNothingEarlyThatTheyWrite) {
  const MockCuda mock({.early = true});
  const auto on_cuda = load_on(open(mock), GetParam()),
             on_twins = load_on(std::make_shared<TwinDevice>(), GetParam());
  EXPECT_EQ(course(*on_cuda, 5, 2, 3), course(*on_twins, 5, 2, 3));
}

TEST(CudaPass, ReadsNoBlockEarlyThatItsMovesComplete) {
  const fs::path file = source_folder() / "tests/data/arch/llama-f32.gguf";
  const MockCuda mock({.early = true});
  const auto on_cuda = load_on(open(mock), file), on_twins = load_on(std::make_shared<TwinDevice>(), file);
  // Kept paths move nodes to slots on both sides of slot 64, the first of a block.
  for (const std::size_t tokens : {61, 63})
    EXPECT_EQ(course(*on_cuda, tokens, 3, 12), course(*on_twins, tokens, 3, 12)) << tokens;
}

TEST(CudaPass, ThatWritesWhatIsReadEarlyIsFound) {
  const ProductCase c{TensorType::q8_0, 40, 512, 1};
  const WeightPanels panels =
      pack_for_device(c.type, c.rows, c.cols, random_tensor(c.type, c.rows, c.cols, 1));
  const std::vector<float> x = random_floats(c.cols, 2);
  const auto bits_on = [&](const MockCuda::Settings& settings) {
    const MockCuda mock(settings);
    const auto device = open(mock);
    ProductOn product(*device, c, panels, x);
    product.bits_of_product();  // quantizes x
    const call::Product multiply = product.product();
    const call::Product::Target& target = multiply.targets.front();
    // The recording sets scales of the weights to zero before it multiplies.
    const call::AnyCall calls[] = {call::Scale{{target.weights.scales, 1}, 1, 1, 0.0f}, multiply};
    const auto recording = value_of(device->record(calls));
    value_of(device->run(*recording));
    std::vector<std::uint32_t> y(c.rows);
    value_of(device->download(std::as_writable_bytes(std::span(y)), target.y.at));
    return y;
  };
  EXPECT_NE(bits_on({.early = true}), bits_on({}));
}

INSTANTIATE_TEST_SUITE_P(Models, CudaPasses, testing::ValuesIn(models()),
                         [](const auto& file) { return test_name_of(file.param); });

}  // namespace
}  // namespace spectr
