// Products and quantized rows on Vulkan have the bits of their twins for any shape.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "spectr/backend/device/weights/weight_panels.h"
#include "tests/support/devices/device_products.h"
#include "tests/support/random_tensor.h"
#include "tests/twins/twin_device.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

class VulkanProducts : public OnVulkan<testing::Test> {
 protected:
  /// Runs `work`, which returns bits, here and on the twins.
  template <class Work>
  void expect_same_bits(const Work& work, const std::string& what) {
    TwinDevice twins;
    EXPECT_EQ(work(*device_), work(twins)) << what;
  }
};

std::vector<std::uint32_t> product(Device& device, TensorType type, std::size_t rows, std::size_t cols,
                                   const WeightPanels& panels, const std::vector<float>& x, std::size_t n) {
  return product_bits(device, {type, rows, cols, n}, panels, x);
}

/// The sizes of a product: rows and columns of a matrix, and rows of x.
struct Shape {
  std::size_t rows, cols, n;
};

class VulkanPanels : public VulkanProducts {
 protected:
  void expect_same_product(TensorType type, const Shape& shape) {
    const ProductCase c{type, shape.rows, shape.cols, shape.n};
    expect_same_bits([&](Device& on) { return product_bits(on, c); }, text_of(c));
  }
};

TEST_F(VulkanPanels, HaveTheBitsOfTheirTwinsForEveryFormat) {
  for (const TensorType type : device_layouts()) {  // with two rows of x: each number is a pipeline
    const std::size_t unit = format_of(type).elements;
    for (const Shape& shape : {Shape{1, unit, 2}, {17, 3 * unit, 2}, {40, 512, 2}})
      expect_same_product(type, shape);
  }
}

TEST_F(VulkanPanels, HaveTheBitsOfTheirTwinsForEveryShape) {
  for (const TensorType type : {TensorType::q8_0, TensorType::q4_1, TensorType::q2_k, TensorType::q3_k}) {
    const std::size_t unit = format_of(type).elements;
    for (const Shape& shape : {Shape{1, unit, 1},
                               {40, 512, 3},
                               {33, 2 * unit, 5},
                               {16, 2304, 8},
                               {24, 512, 9},
                               {20, unit, 70},
                               {8, 5632, 4}})
      expect_same_product(type, shape);
  }
}

TEST_F(VulkanPanels, HaveTheBitsOfTheirTwinsByMatricesOfEveryFormat) {
  if (vulkan::code_of(vulkan::Kernel::matrix_product).words.empty())
    GTEST_SKIP() << "the glslc of this build knows no GL_KHR_cooperative_matrix";
  if (!gpu_->limits.matrices) GTEST_SKIP() << "this driver has no VK_KHR_cooperative_matrix";
  for (const TensorType type : device_layouts()) {
    for (const Shape& shape : {Shape{17, 3 * format_of(type).elements, 5}, {40, 512, 3}})
      expect_same_product(type, shape);
  }
  for (const TensorType type : {TensorType::q8_0, TensorType::q4_k, TensorType::q6_k, TensorType::q2_k}) {
    for (const Shape& shape : {Shape{1, 256, 8}, {33, 2560, 20}, {20, 256, 70}})
      expect_same_product(type, shape);
  }
}

TEST_F(VulkanProducts, OfARowAreTheSameInAnyCompany) {
  constexpr std::size_t rows = 20, cols = 512, n = 11;
  const WeightPanels panels =
      pack_for_device(TensorType::q4_k, rows, cols, random_tensor(TensorType::q4_k, rows, cols, 1));
  const std::vector<float> x = random_floats(n * cols, 2);
  const auto together = product(*device_, TensorType::q4_k, rows, cols, panels, x, n);
  for (std::size_t r = 0; r < n; ++r) {
    const std::vector<float> row(x.begin() + static_cast<std::ptrdiff_t>(r * cols),
                                 x.begin() + static_cast<std::ptrdiff_t>((r + 1) * cols));
    const auto alone = product(*device_, TensorType::q4_k, rows, cols, panels, row, 1);
    EXPECT_TRUE(std::equal(alone.begin(), alone.begin() + rows,
                           together.begin() + static_cast<std::ptrdiff_t>(r * (rows + 8))));
  }
}

TEST_F(VulkanProducts, TakeWhatIsHugeTinyOrNoNumber) {
  constexpr std::size_t rows = 16, cols = 256;
  std::vector<float> x = random_floats(8 * cols, 2);
  const auto row = [&](std::size_t r) { return std::span(x).subspan(r * cols, cols); };
  for (float& v : row(0)) v *= 1e30f;
  for (float& v : row(1)) v *= 1e-29f;
  for (float& v : row(2)) v *= 1e-33f;
  for (float& v : row(3)) v = 0;
  row(4)[37] = infinity;
  row(5)[100] = nan;
  for (float& v : row(6)) v = -0.0f;
  row(7)[255] = -infinity;
  const WeightPanels panels =
      pack_for_device(TensorType::q8_0, rows, cols, random_tensor(TensorType::q8_0, rows, cols, 1));
  const auto work = [&](Device& on) {
    auto all = product(on, TensorType::q8_0, rows, cols, panels, x, 8);
    for (std::uint32_t& one : all) {
      if ((one & 0x7fffffffu) > 0x7f800000u) one = 0x7fc00000u;  // the bits of a NaN are unspecified
    }
    return all;
  };
  expect_same_bits(work, "odd numbers");
}

TEST_F(VulkanProducts, TakeScalesThatAreSubnormal) {
  constexpr std::size_t rows = 16, cols = 64;
  WeightPanels panels =
      pack_for_device(TensorType::q8_0, rows, cols, random_tensor(TensorType::q8_0, rows, cols, 1));
  for (std::size_t i = 0; i < panels.scales.size(); ++i)
    panels.scales[i] = 0x03ff0001u + static_cast<std::uint32_t>(i);
  const std::vector<float> x = random_floats(cols, 2);
  expect_same_bits([&](Device& on) { return product(on, TensorType::q8_0, rows, cols, panels, x, 1); },
                   "scales");
}

TEST_F(VulkanProducts, OfFloatsHaveTheBitsOfTheirTwins) {
  for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::bf16}) {
    for (const auto& [rows, cols, n] : {std::tuple<std::size_t, std::size_t, std::size_t>{1, 6, 1},
                                        {17, 65, 2},
                                        {20, 200, 7},
                                        {33, 2113, 9}}) {
      const ProductCase c{type, rows, cols, n};
      expect_same_bits([&](Device& on) { return float_product_bits(on, c); }, text_of(c));
    }
  }
}

TEST_F(VulkanProducts, OfMatricesThatAreLargerThanABindingAreMadeInParts) {
  constexpr std::size_t rows = 70, cols = 256, n = 3;
  const auto small = value_of(vulkan::VulkanDevice::open(instance_, *gpu_, {gpu_->limits.alignment, 20'000}));
  TwinDevice twins;
  for (const TensorType type : {TensorType::q8_0, TensorType::q5_k, TensorType::q6_k}) {
    const WeightPanels panels = pack_for_device(type, rows, cols, random_tensor(type, rows, cols, 1));
    const std::vector<float> x = random_floats(n * cols, 2);
    EXPECT_EQ(product(*small, type, rows, cols, panels, x, n),
              product(twins, type, rows, cols, panels, x, n));
  }
  const std::vector<std::byte> w = random_tensor(TensorType::f16, rows, cols, 1);
  const std::vector<float> x = random_floats(n * cols, 2);
  const auto work = [&](Device& on) {
    const Numbers weights = send(on, w), in = send(on, x), y = send(on, std::vector<float>(n * rows));
    run(on, call::FloatProduct{{TensorType::f16, rows, cols, weights.at()}, in.rows(cols), y.rows(rows), n});
    return bits(on, y);
  };
  EXPECT_EQ(work(*small), work(twins));
  const Numbers large = zeros(*small, 40'000);
  const call::AnyCall call = call::Scale{large.rows(10'000), 1, 10'000, 2.0f};
  EXPECT_EQ(
      small->run({&call, 1}).error().message,
      gpu_->name + ": a kernel takes 0.04 MB of memory in one piece, and the device binds 0.02 MB at most");
}

}  // namespace
}  // namespace spectr
