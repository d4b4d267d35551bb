#include "spectr/kernels/activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

template <class T>
T at(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST(QuantiseRow, RoundsToTheNearestStepAndSumsUp) {
  constexpr int rows = 3, r = 1, factor = -8;
  for (const TensorType type : {TensorType::q4_0, TensorType::q6_k, TensorType::q4_1, TensorType::q2_k}) {
    const CodeLayout layout = *code_layout(type);
    const ActivationBlock block{rows, layout.scales_per_block()};
    const std::vector<float> x = test::random_floats(64, 1);
    std::vector<std::uint8_t> out(2 * block.bytes());
    quantise_row(x, layout, factor, block, r, out.data());
    for (std::size_t b = 0; b < 2; ++b) {
      const std::size_t begin = b * block.bytes();
      const float a = at<float>(out, begin + block.scales_at() + 4 * r);
      int sums[2] = {0, 0};
      for (std::size_t j = 0; j < 32; ++j) {
        const int q = at<std::int8_t>(out, begin + 32 * r + j);
        EXPECT_LE(std::abs(x[32 * b + j] - a * static_cast<float>(q)), 0.5001f * a);
        EXPECT_LE(std::abs(q), 127);
        sums[block.corrections == 2 ? j / 16 : 0] += q;
      }
      for (int i = 0; i < block.corrections; ++i) {
        const std::size_t correction =
            begin + block.corrections_at() + static_cast<std::size_t>(4 * (i * rows + r));
        if (layout.has_min) {
          EXPECT_EQ(at<float>(out, correction), a * static_cast<float>(sums[i]));
        } else {
          EXPECT_EQ(at<int>(out, correction), factor * sums[i]);
        }
      }
    }
  }
}

TEST(QuantiseRow, WritesTwoBlocksTogetherAsLinesWithZerosForTheOtherBlock) {
  constexpr int rows = 3, factor = -8;
  for (const TensorType type : {TensorType::q4_0, TensorType::q4_1}) {
    const CodeLayout layout = *code_layout(type);
    const ActivationBlock single{rows, 1}, pair{rows, 1, 2};
    std::vector<std::uint8_t> apart(4 * single.bytes(), 0xFF), together(2 * pair.bytes(), 0xFF);
    for (int r = 0; r < rows; ++r) {
      const std::vector<float> x = test::random_floats(128, static_cast<std::uint64_t>(r));
      quantise_row(x, layout, factor, single, r, apart.data());
      quantise_row(x, layout, factor, pair, r, together.data());
    }
    for (std::size_t b = 0; b < 4; ++b) {
      const std::uint8_t* const one = apart.data() + b * single.bytes();
      const std::uint8_t* const two = together.data() + b / 2 * pair.bytes();
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t line = b % 2 * rows + r;
        EXPECT_EQ(std::memcmp(two + 64 * line + b % 2 * 32, one + 32 * r, 32), 0);
        const std::vector<std::uint8_t> zeros(32, 0);
        EXPECT_EQ(std::memcmp(two + 64 * line + (1 - b % 2) * 32, zeros.data(), 32), 0);
        EXPECT_EQ(std::memcmp(two + pair.scales_at() + 4 * line, one + single.scales_at() + 4 * r, 4), 0);
        EXPECT_EQ(
            std::memcmp(two + pair.corrections_at() + 4 * line, one + single.corrections_at() + 4 * r, 4), 0);
      }
    }
  }
}

TEST(QuantiseRow, WritesTheSameWhereNoCorrectionsAreWanted) {
  const CodeLayout layout = *code_layout(TensorType::q4_0);
  for (const int together : {1, 2}) {
    const ActivationBlock with{2, 1, together}, without{2, 0, together};
    ASSERT_EQ(without.bytes(), with.corrections_at());
    const std::vector<float> x = test::random_floats(static_cast<std::size_t>(32 * together), 1);
    std::vector<std::uint8_t> expected(with.bytes(), 0xFF), out(with.bytes(), 0xFF);
    quantise_row(x, layout, -8, with, 1, expected.data());
    quantise_row(x, layout, -8, without, 1, out.data());
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), without.bytes()), 0);
    EXPECT_TRUE(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(without.bytes()), out.end(),
                            [](std::uint8_t byte) { return byte == 0xFF; }));
  }
}

TEST(QuantiseRow, GivesZerosForNothingAndForAlmostNothing) {
  const CodeLayout layout = *code_layout(TensorType::q4_0);
  for (const float value : {0.0f, 1e-40f, -1e-35f}) {
    const std::vector<float> x(32, value);
    const ActivationBlock block{1, 1};
    std::vector<std::uint8_t> out(block.bytes(), 0xFF);
    quantise_row(x, layout, -8, block, 0, out.data());
    EXPECT_EQ(out, std::vector<std::uint8_t>(out.size(), 0));
  }
}

}  // namespace
}  // namespace spectr
