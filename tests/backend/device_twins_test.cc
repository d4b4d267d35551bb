#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "spectr/backend/cpu/kernels/activations.h"
#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/gguf/dequantize.h"
#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scalar_ops.h"
#include "tests/twins/twins.h"

namespace spectr {
namespace {

using test::random_floats;

TEST(TwinExp, IsExactToAFewRoundings) {
  for (int i = 0; i <= 87'000; ++i) {
    const float x = -static_cast<float>(i) / 1000.0f;
    const double exact = std::exp(double{x});
    for (const auto rounding : {twin::Rounding::fused, twin::Rounding::separate})
      EXPECT_NEAR(twin::exp_of_negative(x, rounding), exact, 3e-7 * exact) << x;
  }
  EXPECT_EQ(twin::exp_of_negative(0.0f), 1.0f);
  EXPECT_EQ(twin::exp_of_negative(-88.0f), 0.0f);
  EXPECT_EQ(twin::exp_of_negative(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_TRUE(std::isnan(twin::exp_of_negative(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(twin::exp_of_negative(std::bit_cast<float>(0x7fffffffU)))) << "a GPU's";
}

TEST(TwinSilu, IsTheReferences) {
  for (int i = -20'000; i <= 20'000; ++i) {
    const float x = static_cast<float>(i) / 1000.0f;
    const double exact = x / (1 + std::exp(-double{x}));
    EXPECT_NEAR(twin::silu(x), exact, 6e-7 * std::abs(exact) + 1e-30) << x;
  }
}

TEST(TwinActivations, AreNearTheirDefinitions) {
  for (int i = -8'000; i <= 8'000; ++i) {
    const float x = static_cast<float>(i) / 500.0f;
    const double v = x, u = std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v);
    const double gelu = v / 2 * (1 + std::tanh(u)), sigmoid = 1 / (1 + std::exp(-v));
    EXPECT_NEAR(twin::sigmoid(x), sigmoid, 6e-7 * sigmoid) << x;
    EXPECT_NEAR(twin::gelu(x), gelu, 1e-6) << x;
    EXPECT_NEAR(twin::soft_cap(x, 3), 3 * std::tanh(v / 3), 2e-6) << x;
    EXPECT_EQ(twin::activate(Activation::relu, 0, x, 2), x > 0 ? 2 * x : 0.0f);
    const double g = std::min(v, 2.0);
    EXPECT_NEAR(twin::activate(Activation::clamped_silu, 2, x, 5), g / (1 + std::exp(-1.702 * g)) * 3, 1e-5);
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(twin::gelu(infinity), infinity);
  EXPECT_EQ(twin::soft_cap(-infinity, 30), -30);
  EXPECT_TRUE(std::isnan(twin::activate(Activation::relu, 0, NAN, 1)));
}

TEST(TwinLayerNorm, IsTheDefinitions) {
  for (const std::size_t size : {6, 32, 100, 5000}) {
    std::vector<float> x = random_floats(size, 1);
    for (float& v : x) v += 3;
    const std::vector<float> weight = random_floats(size, 2), bias = random_floats(size, 3);
    const std::vector<float> found = twin::layer_norm(x, weight, bias, 1e-5f);
    double mean = 0, variance = 0;
    for (const float v : x) mean += v / static_cast<double>(size);
    for (const float v : x) variance += (v - mean) * (v - mean) / static_cast<double>(size);
    for (std::size_t j = 0; j < size; ++j) {
      const double expected = (x[j] - mean) / std::sqrt(variance + 1e-5) * weight[j] + bias[j];
      EXPECT_NEAR(found[j], expected, 3e-6);
    }
  }
}

TEST(TwinProduct, OfFloatsIsTheDefinitions) {
  constexpr std::size_t rows = 5, n = 2;
  for (const std::size_t cols : {32, 100, 4096}) {
    const std::vector<float> w = random_floats(rows * cols, 1), x = random_floats(n * cols, 2);
    const std::vector<float> y =
        twin::float_product(TensorType::f32, std::as_bytes(std::span(w)), rows, x, n);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t i = 0; i < rows; ++i) {
        double exact = 0, size = 0;
        for (std::size_t j = 0; j < cols; ++j) {
          const double part = double{w[i * cols + j]} * x[r * cols + j];
          exact += part;
          size += std::abs(part);
        }
        EXPECT_NEAR(y[r * rows + i], exact, 1e-6 * size);
      }
    }
  }
}

TEST(TwinProduct, OfPackedWeightsHasTheBitsOfTheFilesForEveryFormat) {
  ThreadPool pool(2);
  EXPECT_EQ(device_layouts().size(), 24u);
  for (const TensorType type : device_layouts()) {
    const std::size_t unit = format_of(type).elements;
    for (const auto& [rows, cols] :
         {std::pair<std::size_t, std::size_t>{1, unit}, {19, 512}, {16, 3 * unit}}) {
      constexpr std::size_t n = 3;
      const std::vector<std::byte> file = test::random_tensor(type, rows, cols, 1);
      const twin::QuantizedRows x = twin::quantize(random_floats(n * cols, 2), n);
      const WeightPanels panels = pack_for_device(type, rows, cols, file, &pool);
      const twin::PackedWeights packed{panels.codes.data(), panels.scales.data(), panels.factors.data()};
      EXPECT_EQ(twin::product(type, packed, rows, cols, x), twin::product(type, file, rows, x))
          << format_of(type).name << ' ' << rows << 'x' << cols;
    }
  }
}

TEST(WeightPanels, TakeNoMoreBitsThanCodesAndTheirScales) {
  constexpr std::size_t rows = 32, cols = 1024;
  for (const TensorType type : device_layouts()) {
    const QuantLayout layout = *quant_layout(type);
    const double bits = 8.0 * static_cast<double>(PanelLayout(type, rows, cols).bytes()) / (rows * cols);
    EXPECT_LE(bits, layout.bits() + 1) << format_of(type).name;
  }
}

/// Rows as the CPU backend quantizes them.
struct OnTheProcessor {
  ActivationBlock block;
  std::vector<std::uint8_t> bytes;

  OnTheProcessor(const std::vector<float>& x, std::size_t n)
      : block{.rows = static_cast<int>(n), .corrections = 0, .factor = 0} {
    const std::size_t width = x.size() / n;
    bytes.resize(ActivationBlock::count(width) * block.bytes());
    for (std::size_t r = 0; r < n; ++r) {
      quantize_row(std::span(x).subspan(r * width, width), block, static_cast<int>(r), bytes.data());
    }
  }
  std::int8_t q(std::size_t r, std::size_t j) const {
    const auto rows = static_cast<std::size_t>(block.rows);
    const std::size_t at = j / 64 * block.bytes() + j % 64 / 32 * 32 * rows + 32 * r + j % 32;
    return static_cast<std::int8_t>(bytes[at]);
  }
  float a(std::size_t r, std::size_t half) const {
    const std::size_t place = half % 2 * static_cast<std::size_t>(block.rows) + r;
    float a;
    std::memcpy(&a, &bytes[half / 2 * block.bytes() + block.scales_at() + 4 * place], sizeof a);
    return a;
  }
};

TEST(TwinQuantize, HasTheNumbersOfTheProcessor) {
  constexpr std::size_t n = 3;
  for (const std::size_t width : {64, 288, 2048}) {
    std::vector<float> x = random_floats(n * width, 1);
    x[40] *= 1000;
    std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(width), 32, 0.0f);
    std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(2 * width), 32, 1e-35f);
    const twin::QuantizedRows rows = twin::quantize(x, n);
    const OnTheProcessor expected(x, n);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t j = 0; j < rows.cols; ++j) EXPECT_EQ(rows.q[r * rows.cols + j], expected.q(r, j));
      for (std::size_t half = 0; half < rows.cols / 32; ++half) {
        EXPECT_EQ(rows.a[r * rows.cols / 32 + half], expected.a(r, half));
      }
    }
  }
}

TEST(TwinQuantize, PassesOnWhatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> x = random_floats(128, 1);
    x[70] = bad;
    const twin::QuantizedRows rows = twin::quantize(x, 1);
    EXPECT_TRUE(std::isfinite(rows.a[1]));
    EXPECT_FALSE(std::isfinite(rows.a[2]));
  }
}

/// Returns the bound of docs/kernels.md on the error of y[i] for row r of x, with doubled rounding errors:
/// here no multiply-add is fused. In these tensors a minimum is below ½, so |s c| + |m| < |w| + 1.
double bound_of(TensorType type, const std::vector<float>& w, const twin::QuantizedRows& rows,
                std::size_t r) {
  double steps = 0, sizes = 0;
  const bool has_min = quant_layout(type)->has_min;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const double a = rows.a[r * rows.cols / 32 + j / 32];
    steps += std::abs(w[j]) * a / 2;
    sizes += (std::abs(w[j]) + (has_min ? 1.0 : 0.0)) * a * 127;
  }
  return steps * 1.001 + 2 * (16 + static_cast<double>(w.size()) / 32) * 0x1p-24 * sizes;
}

TEST(TwinProduct, IsWithinTheBoundOfTheProcessorsForEveryFormat) {
  constexpr std::size_t rows = 9, n = 2;
  for (const TensorType type : test::all_tensor_types()) {
    if (!quant_layout(type)) continue;
    for (const std::size_t cols : {512, 2304, 5632}) {
      const std::vector<std::byte> file = test::random_tensor(type, rows, cols, 1);
      const std::vector<float> x = random_floats(n * cols, 2);
      const twin::QuantizedRows quantized = twin::quantize(x, n);
      const std::vector<float> y = twin::product(type, file, rows, quantized);
      std::vector<float> exact(n * rows), weights(rows * cols);
      scalar::matmul(type, file, {x.data(), n, cols}, {exact.data(), n, rows});
      dequantize(type, file, weights);
      for (std::size_t r = 0; r < n; ++r) {
        for (std::size_t i = 0; i < rows; ++i) {
          const std::vector<float> w(weights.begin() + static_cast<std::ptrdiff_t>(i * cols),
                                     weights.begin() + static_cast<std::ptrdiff_t>((i + 1) * cols));
          EXPECT_NEAR(y[r * rows + i], exact[r * rows + i], bound_of(type, w, quantized, r))
              << format_of(type).name << ", " << cols << " columns";
        }
      }
    }
  }
}

TEST(TwinProduct, OfARowIsTheSameInAnyCompany) {
  constexpr std::size_t rows = 5, cols = 768, n = 4;
  const std::vector<std::byte> file = test::random_tensor(TensorType::q4_k, rows, cols, 1);
  const std::vector<float> x = random_floats(n * cols, 2);
  const std::vector<float> together = twin::product(TensorType::q4_k, file, rows, twin::quantize(x, n));
  for (std::size_t r = 0; r < n; ++r) {
    const std::span<const float> row = std::span(x).subspan(r * cols, cols);
    const std::vector<float> alone = twin::product(TensorType::q4_k, file, rows, twin::quantize(row, 1));
    EXPECT_TRUE(
        std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(r * rows)));
  }
}

TEST(TwinNorm, IsTheReferences) {
  for (const std::size_t width : {64, 2048, 5120}) {
    const std::vector<float> x = random_floats(width, 1), weight = random_floats(width, 2);
    std::vector<float> expected(width);
    scalar::rms_norm(x, weight, 1e-5f, expected);
    const std::vector<float> normed = twin::rms_norm(x, weight, 1e-5f);
    for (std::size_t j = 0; j < width; ++j)
      EXPECT_NEAR(normed[j], expected[j], 1e-6f * std::abs(expected[j]));
  }
}

TEST(TwinAttention, IsTheReferences) {
  constexpr std::size_t dim = 64;
  for (const std::size_t attended : {1, 63, 64, 65, 700}) {
    const std::vector<float> q = random_floats(dim, 1);
    const std::vector<float> keys = random_floats(attended * dim, 2),
                             values = random_floats(attended * dim, 3);
    twin::AttendedSlots slots{.dim = dim, .keys = {}, .values = {}};
    for (const float key : keys) slots.keys.push_back(round_to_f16(key).bits);
    for (const float value : values) slots.values.push_back(round_to_f16(value).bits);
    std::vector<double> weights;
    double largest = -1e30, sum = 0;
    for (std::size_t i = 0; i < attended; ++i) {
      double score = 0;
      for (std::size_t d = 0; d < dim; ++d) score += double{q[d]} * f16_to_float(slots.keys[i * dim + d]);
      weights.push_back(score);
      largest = std::max(largest, score);
    }
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    const std::vector<float> out = twin::attend(q, slots);
    for (std::size_t d = 0; d < dim; ++d) {
      double exact = 0, sizes = 0;
      for (std::size_t i = 0; i < attended; ++i) {
        const double term = weights[i] / sum * f16_to_float(slots.values[i * dim + d]);
        exact += term;
        sizes += std::abs(term);
      }
      EXPECT_NEAR(out[d], exact, 2e-5 * sizes) << attended;
    }
  }
}

}  // namespace
}  // namespace spectr
