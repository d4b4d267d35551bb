#include "spectr/backend/cpu/kernels/activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "spectr/gguf/quant/quant_layout.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

using Lines = ActivationBlock::Lines;
constexpr Lines all_lines[] = {Lines::bytes, Lines::separate_halves};

template <class T>
T at(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Returns the activation layout that a kernel of unsigned quants expects for this format.
ActivationBlock block_for(TensorType type, int rows, Lines lines = Lines::bytes) {
  const QuantLayout layout = *quant_layout(type);
  return {rows, 2 * layout.scales_per_block(), -layout.offset, lines};
}

ActivationBlock without_corrections(int rows, Lines lines = Lines::bytes) {
  return {rows, 0, 0, lines};
}

TEST(QuantizeRow, RoundsToTheNearestStepAndSumsUp) {
  constexpr int rows = 3, r = 1;
  for (const TensorType type : {TensorType::q4_0, TensorType::q6_k, TensorType::q4_1, TensorType::q2_k}) {
    const QuantLayout layout = *quant_layout(type);
    const ActivationBlock block = block_for(type, rows);
    std::vector<float> x = test::random_floats(128, 1);
    x[40] *= 100;  // affects the scale of its own half only
    std::vector<std::uint8_t> out(2 * block.bytes());
    quantize_row(x, block, r, out.data());
    for (std::size_t b = 0; b < 2; ++b) {
      const std::size_t begin = b * block.bytes();
      int sums[4] = {0, 0, 0, 0};
      for (std::size_t j = 0; j < 64; ++j) {
        const std::size_t place = j / 32 * rows + r;  // index within the half row
        const float a = at<float>(out, begin + block.scales_at() + 4 * place);
        const int q = at<std::int8_t>(out, begin + 32 * place + j % 32);
        EXPECT_LE(std::abs(x[64 * b + j] - a * static_cast<float>(q)), 0.5001f * a);
        EXPECT_LE(std::abs(q), 127);
        sums[j * static_cast<std::size_t>(block.corrections) / 64] += q;
      }
      for (int i = 0; i < block.corrections; ++i) {
        const std::size_t correction =
            begin + block.corrections_at() + static_cast<std::size_t>(4 * (i * rows + r));
        if (layout.has_min) {
          EXPECT_EQ(at<float>(out, correction), static_cast<float>(sums[i]));
        } else {
          EXPECT_EQ(at<float>(out, correction), sum_start - static_cast<float>(layout.offset * sums[i]));
        }
      }
    }
  }
}

TEST(QuantizeRow, WritesHalvesApartAsLinesWithZerosForTheOtherHalf) {
  constexpr std::size_t rows = 3;
  for (const TensorType type : {TensorType::q4_0, TensorType::q4_1}) {
    const ActivationBlock whole = block_for(type, rows),
                          apart = block_for(type, rows, Lines::separate_halves);
    std::vector<std::uint8_t> one(2 * whole.bytes(), 0xFF), two(2 * apart.bytes(), 0xFF);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::vector<float> x = test::random_floats(128, r);
      quantize_row(x, whole, static_cast<int>(r), one.data());
      quantize_row(x, apart, static_cast<int>(r), two.data());
    }
    const std::vector<std::uint8_t> zeros(32, 0);
    for (std::size_t b = 0; b < 2; ++b) {
      const std::uint8_t* const expected = one.data() + b * whole.bytes();
      const std::uint8_t* const found = two.data() + b * apart.bytes();
      for (std::size_t line = 0; line < 2 * rows; ++line) {
        const std::size_t half = line / rows, other = 1 - half;
        EXPECT_EQ(std::memcmp(found + 64 * line + 32 * half, expected + 32 * line, 32), 0);
        EXPECT_EQ(std::memcmp(found + 64 * line + 32 * other, zeros.data(), 32), 0);
      }
      const std::size_t numbers = whole.corrections_at() - whole.scales_at() + 4 * 2 * rows;
      EXPECT_EQ(std::memcmp(found + apart.scales_at(), expected + whole.scales_at(), numbers), 0);
    }
  }
}

TEST(QuantizeRow, FillsTheLastBlockWithZeros) {
  for (const TensorType type : {TensorType::q4_0, TensorType::q4_1}) {
    for (const Lines lines : all_lines) {
      const ActivationBlock block = block_for(type, 2, lines);
      std::vector<float> x = test::random_floats(96, 1);
      std::vector<std::uint8_t> out(2 * block.bytes(), 0xFF), expected = out;
      quantize_row(x, block, 1, out.data());
      x.resize(128, 0.0f);
      quantize_row(x, block, 1, expected.data());
      EXPECT_EQ(out, expected);
    }
  }
}

TEST(QuantizeRow, WritesTheSameWhereNoCorrectionsAreWanted) {
  for (const Lines lines : all_lines) {
    const ActivationBlock with = block_for(TensorType::q4_0, 2, lines),
                          without = without_corrections(2, lines);
    const std::size_t common = with.corrections_at();
    const std::vector<float> x = test::random_floats(64, 1);
    std::vector<std::uint8_t> expected(with.bytes(), 0xFF), out(without.bytes(), 0xFF);
    quantize_row(x, with, 1, expected.data());
    quantize_row(x, without, 1, out.data());
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), common), 0);
    EXPECT_TRUE(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(common), out.end(),
                            [](std::uint8_t byte) { return byte == 0xFF; }));
  }
}

TEST(QuantizeRow, GivesZerosForNothingAndForAlmostNothing) {
  for (const float value : {0.0f, 1e-40f, -1e-35f}) {
    const std::vector<float> x(64, value);
    const ActivationBlock block = block_for(TensorType::q4_0, 1);
    std::vector<std::uint8_t> out(block.bytes(), 0xFF);
    quantize_row(x, block, 0, out.data());
    const std::vector<std::uint8_t> zeros(block.corrections_at(), 0);
    EXPECT_EQ(std::memcmp(out.data(), zeros.data(), zeros.size()), 0);
    for (const std::size_t i : {0, 1}) EXPECT_EQ(at<float>(out, block.corrections_at() + 4 * i), sum_start);
  }
}

}  // namespace
}  // namespace spectr
