#include "spectr/backend/cpu/kernels/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "spectr/backend/cpu/kernels/activations.h"
#include "spectr/base/check.h"
#include "spectr/gguf/quant/quant_layout.h"
#include "tests/support/every_target.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scalar_ops.h"

namespace spectr {

/// Prints the name of a level for GoogleTest.
inline void PrintTo(KernelLevel level, std::ostream* out) {
  *out << name_of(level);
}

namespace {

using test::all_tensor_types;
using test::random_floats;
using test::random_tensor;

constexpr KernelLevel all_levels[] = {KernelLevel::portable,    KernelLevel::neon,      KernelLevel::neon_dot,
                                      KernelLevel::avx2,        KernelLevel::avx2_vnni, KernelLevel::avx512,
                                      KernelLevel::avx512_vnni, KernelLevel::amx};

/// Tests of the kernels of one level. Levels that this machine does not support are reported as skipped.
struct MatmulAtLevel : testing::TestWithParam<KernelLevel> {
  KernelLevel level = GetParam();

  void SetUp() override {
    if (std::ranges::find(available_levels(), level) == available_levels().end())
      GTEST_SKIP() << "this machine has no " << name_of(level);
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, MatmulAtLevel, testing::ValuesIn(all_levels), [](const auto& test) {
  std::string name(name_of(test.param));
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name;
});

struct Problem {
  TensorType type;
  std::size_t rows;
  std::size_t cols;
  std::vector<std::byte> bytes = random_tensor(type, rows, cols, 1);
  ThreadPool pool{1};  // one task has all panels, so that kernels of several panels get several
  Matrix matrix = Matrix::pack(type, rows, cols, bytes, pool);
  MatmulScratch scratch = {};

  std::vector<float> product(KernelLevel level, std::vector<float> x) {
    const std::size_t n = x.size() / cols;
    std::vector<float> y(n * rows, NAN);
    const Product whole[] = {{matrix, {y.data(), n, rows}}};
    matmul_at(level, whole, {x.data(), n, cols}, pool, scratch);
    return y;
  }
};

// Clears the bits that BF16 does not have.
void cut_to_bf16(std::vector<float>& x) {
  for (float& f : x) f = std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) & 0xffff0000u);
}

/// Returns −m for each weight s · (quant − offset) − m of a row of W: its weights if all quants were 0.
std::vector<float> minima(const Problem& problem, std::size_t row) {
  std::vector<float> minima(problem.cols);
  const auto layout = quant_layout(problem.type);
  if (!layout || !layout->has_min) return minima;
  const TensorFormat& format = format_of(problem.type);
  const std::byte* file = problem.bytes.data() + row * problem.cols / format.elements * format.bytes;
  for (std::size_t j = 0; j < problem.cols; j += format.elements, file += format.bytes) {
    QuantBlock block{};
    split_block(problem.type, file, 0, block);
    block.quants.fill(0);
    block_values(problem.type, block, &minima[j]);
  }
  return minima;
}

/// Bound on |y − W x| for a row of W. If W is quantized, x[j] is off by at most half a step a / 2 of its
/// block, or by all of x[j] if the block is nearly zero; rounding x[j] to BF16 costs 2⁻⁹ of it. Each f32
/// addition costs 2⁻²⁴; the two parts of a weight are rounded separately.
double error_bound(const Problem& problem, std::size_t row, std::span<const float> x) {
  constexpr std::size_t block = ActivationBlock::half;
  const bool quantized = format_of(problem.type).is_quantized();
  std::vector<float> w(problem.cols);
  problem.matrix.row(row, w);
  const std::vector<float> least = minima(problem, row);
  const auto cols = static_cast<double>(problem.cols);
  const double rounding = 0x1p-24 * (quantized ? 16 + cols / 32 : 20 + cols / 16);
  double bound = 0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const double alone = std::abs(x[j]);
    double size = alone, off = problem.type == TensorType::bf16 ? alone * 0x1p-9 : 0;
    if (quantized) {
      const std::size_t begin = j / block * block, end = std::min(begin + block, x.size());
      for (std::size_t i = begin; i < end; ++i) size = std::max<double>(size, std::abs(x[i]));
      off = size < 1e-30 ? alone : size / 254;
    }
    const double parts = std::abs(double{w[j]} - least[j]) + std::abs(least[j]);
    bound += std::abs(w[j]) * off + parts * size * rounding;
  }
  return bound;
}

TEST_P(MatmulAtLevel, IsWithinTheBoundOfQuantizedActivations) {
  constexpr std::size_t rows = 37, cols = 768, n = 3;
  for (const TensorType type : all_tensor_types()) {
    Problem problem{type, rows, cols};
    std::vector<float> x = random_floats(n * cols, 2);
    x[5] *= 100;  // an outlier costs its block, not the row
    for (std::size_t j = 0; j < cols; ++j) x[2 * cols + j] *= 1e-32f;  // too small to be quantized
    std::vector<float> exact(n * rows);
    scalar::matmul(type, problem.bytes, {x.data(), n, cols}, {exact.data(), n, rows});
    const std::vector<float> y = problem.product(level, x);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t r = 0; r < n; ++r) {
        ASSERT_LE(std::abs(y[r * rows + i] - exact[r * rows + i]),
                  error_bound(problem, i, std::span(x).subspan(r * cols, cols)))
            << format_of(type).name << ", row " << i;
      }
    }
  }
}

/// Returns a tensor of Q4_K whose weights are all s · 1 − s.
std::vector<std::byte> cancelling_tensor(std::size_t rows, std::size_t cols) {
  std::vector<std::byte> bytes = random_tensor(TensorType::q4_k, rows, cols, 1);
  for (auto block = bytes.begin(); block != bytes.end(); block += 144) {
    std::copy_n(block, 2, block + 2);      // d of the minima
    std::copy_n(block + 4, 4, block + 8);  // minima become scales: six bits of four, two of the others …
    for (int i = 12; i < 16; ++i)
      block[i] = (block[i] & std::byte{15}) | block[i] << 4;  // … whose low four bits follow
    std::fill_n(block + 16, 128, std::byte{0x11});
  }
  return bytes;
}

TEST_P(MatmulAtLevel, IsWithinTheBoundWhereScalesAndMinimaCancel) {
  constexpr std::size_t rows = 17;
  for (const std::size_t cols : {256, 1024}) {
    Problem problem{TensorType::q4_k, rows, cols, cancelling_tensor(rows, cols)};
    const std::size_t n = cols == 256 ? 9 : 6;
    const std::vector<float> x = random_floats(n * cols, 2), y = problem.product(level, x), none(cols);
    std::vector<float> w(cols);
    for (std::size_t i = 0; i < rows; ++i) {
      problem.matrix.row(i, w);
      ASSERT_EQ(w, none);
      for (std::size_t r = 0; r < n; ++r) {
        ASSERT_LE(std::abs(y[r * rows + i]), error_bound(problem, i, std::span(x).subspan(r * cols, cols)))
            << "row " << i;
      }
    }
    EXPECT_NE(y, std::vector<float>(n * rows)) << "nothing was rounded";
  }
}

/// If a model computes NaN, its logits must show it.
TEST_P(MatmulAtLevel, IsNotFiniteForARowOfXThatIsNot) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float strange[] = {std::numeric_limits<float>::quiet_NaN(), std::bit_cast<float>(0x7fff'ffff),
                           std::bit_cast<float>(0xff80'0001), infinity, -infinity};
  constexpr std::size_t rows = 17;
  const auto is_finite = [](float y) { return std::isfinite(y); };
  const auto claim = [&](TensorType type, std::size_t n, std::size_t cols, std::size_t step) {
    Problem problem{type, rows, cols};
    std::vector<float> x = random_floats(n * cols, 7);
    const std::size_t row = n / 2;
    at_every_target([&] {
      const std::vector<float> expected = problem.product(level, x);
      for (std::size_t j = 0; j < cols; j += step) {
        const float was = x[row * cols + j];
        for (const float number : strange) {
          x[row * cols + j] = number;
          std::vector<float> y = problem.product(level, x);
          const auto found = std::span(y).subspan(row * rows, rows);
          EXPECT_TRUE(std::ranges::none_of(found, is_finite))
              << format_of(type).name << ", " << number << " in column " << j << " of " << cols;
          std::ranges::copy(std::span(expected).subspan(row * rows, rows), found.begin());
          EXPECT_EQ(y, expected);
        }
        x[row * cols + j] = was;
      }
    });
  };
  for (const TensorType type : all_tensor_types()) {
    claim(type, 2, format_of(type).elements > 32 ? 256 : 96, 1);
    // Tiled kernels need many or long rows of x.
    claim(type, 9, 256, 17);
    claim(type, 6, 1024, 67);
  }
}

TEST(Matmul, HasARelativeErrorBelowOnePercentForNumbersOfTheNormalDistribution) {
  for (const TensorType type : all_tensor_types()) {
    Problem problem{type, 64, 1024};
    const std::vector<float> x = random_floats(4 * 1024, 2);
    std::vector<float> exact(4 * 64);
    scalar::matmul(type, problem.bytes, {x.data(), 4, 1024}, {exact.data(), 4, 64});
    const std::vector<float> y = problem.product(available_levels().back(), x);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      error += std::pow(y[i] - exact[i], 2);
      size += std::pow(exact[i], 2);
    }
    EXPECT_LT(std::sqrt(error / size), 0.01) << format_of(type).name;
  }
}

/// Tests extreme quants and activations, for which products of unsigned quants and
/// signed bytes could overflow 16 bits.
TEST_P(MatmulAtLevel, IsExactForTheLargestCodesAndActivations) {
  for (const TensorType type : all_tensor_types()) {
    if (format_of(type).elements == 1) continue;
    for (const int fill : {0x80, 0xFF, 0x7F, 0x00}) {
      for (const std::size_t cols : {256, 1024}) {
        Problem problem{type, 16, cols};
        for (std::byte& b : problem.bytes) b = static_cast<std::byte>(fill);
        // All f16 factors become 2⁻¹ through these high bytes; other bytes stay extreme.
        const std::vector<std::byte> factors = random_tensor(type, 16, cols, 1);
        for (std::size_t i = 0; i < factors.size(); ++i) {
          const std::size_t at = i % format_of(type).bytes;
          if (test::is_factor(type, at)) problem.bytes[i] = factors[i];
        }
        problem.matrix = Matrix::pack(type, 16, cols, problem.bytes, problem.pool);
        const std::vector<float> x(9 * cols, -1.0f);  // each becomes −127
        const std::vector<float> expected = problem.product(KernelLevel::portable, x);
        const std::span<const float> fewer = std::span(x).first(6 * cols),
                                     as_expected = std::span(expected).first(6 * 16);
        EXPECT_EQ(problem.product(level, x), expected) << format_of(type).name;
        EXPECT_TRUE(std::ranges::equal(problem.product(level, {fewer.begin(), fewer.end()}), as_expected))
            << format_of(type).name;
        if (cols > 256) continue;  // longer rows matter only to levels that treat them differently
        std::vector<float> exact(9 * 16);
        scalar::matmul(type, problem.bytes, {x.data(), 9, cols}, {exact.data(), 9, 16});
        for (std::size_t i = 0; i < exact.size(); ++i)
          EXPECT_NEAR(expected[i], exact[i], 1e-5 * (1 + std::abs(exact[i]) * 16));
      }
    }
  }
}

TEST(Matmul, DoesNotDependOnThreads) {
  for (const TensorType type : all_tensor_types()) {
    Problem problem{type, 333, 1024};
    for (const std::size_t n : {5, 11}) {
      const std::vector<float> x = random_floats(n * 1024, 5);
      const std::vector<float> expected = problem.product(available_levels().back(), x);
      for (const int threads : {2, 3, 5}) {
        ThreadPool pool(threads);
        std::vector<float> y(n * 333);
        const Product product[] = {{problem.matrix, {y.data(), n, 333}}};
        matmul(product, {x.data(), n, 1024}, pool, problem.scratch);
        EXPECT_EQ(y, expected) << format_of(type).name << ", " << n << " rows, " << threads << " threads";
      }
    }
  }
}

TEST(Matmul, RoundsActivationsToBf16ForBf16Weights) {
  Problem problem{TensorType::bf16, 20, 64};
  const std::vector<float> cut = {1.0f, 1.0078125f, -3.0f, 0.0f};
  const std::vector<float> between = {1.0f + 0x1p-9f, 1.0078125f + 0x1p-9f, -3.0f - 0x1p-8f, 0x1p-140f};
  std::vector<float> x(64), rounded(64);
  for (std::size_t j = 0; j < 64; ++j) x[j] = between[j % 4], rounded[j] = cut[j % 4];
  EXPECT_EQ(problem.product(KernelLevel::portable, x), problem.product(KernelLevel::portable, rounded));
}

TEST_P(MatmulAtLevel, TakesPlainNumbersOfAnyWidth) {
  for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::bf16}) {
    for (const std::size_t cols : {1, 2, 15, 16, 17, 31, 33, 100}) {
      for (const std::size_t rows : {1, 2, 3, 4, 5, 9}) {
        Problem problem{type, rows, cols};
        for (const std::size_t n : {1, 2, 3, 4, 8}) {
          std::vector<float> x = random_floats(n * cols, 6);
          if (type == TensorType::bf16) cut_to_bf16(x);
          std::vector<float> exact(n * rows);
          scalar::matmul(type, problem.bytes, {x.data(), n, cols}, {exact.data(), n, rows});
          const std::vector<float> expected = problem.product(KernelLevel::portable, x);
          for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(expected[i], exact[i], 1e-5);
          EXPECT_EQ(problem.product(level, x), expected);
        }
      }
    }
  }
}

TEST(Matmul, OfSeveralMatricesIsEachOnItsOwn) {
  const std::vector<float> x = random_floats(3 * 256, 8);
  Problem q8{TensorType::q8_0, 40, 256}, wide{TensorType::q8_0, 23, 256}, k{TensorType::q4_k, 17, 256},
      plain{TensorType::f16, 9, 256}, other{TensorType::f16, 6, 256}, last{TensorType::q8_0, 16, 256};
  Problem* problems[] = {&q8, &wide, &k, &plain, &other, &last};
  std::vector<std::vector<float>> found;
  std::vector<Product> products;
  for (Problem* problem : problems) found.emplace_back(3 * problem->rows);
  for (std::size_t i = 0; i < std::size(problems); ++i) {
    products.push_back({problems[i]->matrix, {found[i].data(), 3, problems[i]->rows}});
  }
  matmul(products, {x.data(), 3, 256}, q8.pool, q8.scratch);
  for (std::size_t i = 0; i < std::size(problems); ++i) {
    EXPECT_EQ(found[i], problems[i]->product(available_levels().back(), x)) << i;
  }
}

TEST(Matmul, RefusesShapesThatDoNotFit) {
  Problem problem{TensorType::q8_0, 16, 64};
  std::vector<float> x(64), y(16);
  const auto multiply = [&](std::size_t n, std::size_t cols, std::size_t rows) {
    const Product product[] = {{problem.matrix, {y.data(), n, rows}}};
    matmul(product, {x.data(), n, cols}, problem.pool, problem.scratch);
  };
  EXPECT_THROW(multiply(1, 32, 16), BrokenContract);
  EXPECT_THROW(multiply(1, 64, 15), BrokenContract);
  EXPECT_NO_THROW(multiply(0, 64, 16));
}

TEST_P(MatmulAtLevel, GivesTheBitsOfThePortableKernels) {
  for (const TensorType type : all_tensor_types()) {
    for (const std::size_t cols : {32, 96, 768, 1024, 1056, 1088}) {
      if (cols % format_of(type).elements != 0) continue;
      Problem problem{type, 37, cols};
      for (const std::size_t n : {5, 7, 8, 9, 11, 16, 17}) {
        const std::vector<float> x = random_floats(n * cols, 3);
        EXPECT_EQ(problem.product(level, x), problem.product(KernelLevel::portable, x))
            << format_of(type).name << ", " << n << " rows, " << cols << " columns";
      }
    }
  }
}

TEST_P(MatmulAtLevel, GivesARowTheSameBitsWhateverTheOthers) {
  const std::vector<float> x = random_floats(33 * 1024, 4);
  for (const TensorType type : all_tensor_types()) {
    Problem problem{type, 19, 1024};
    const std::vector<float> all = problem.product(level, x);
    for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32}) {
      const std::vector<float> first =
          problem.product(level, {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n * 1024)});
      EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()))
          << format_of(type).name << ", " << n << " rows";
    }
  }
}

}  // namespace
}  // namespace spectr
