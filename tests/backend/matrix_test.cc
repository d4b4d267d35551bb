#include "spectr/backend/cpu/kernels/matrix.h"

#include <gtest/gtest.h>

#include <vector>

#include "spectr/base/check.h"
#include "spectr/gguf/dequantize.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

using test::all_tensor_types;
using test::random_tensor;

TEST(Matrix, RowGivesBackTheNumbersOfTheFile) {
  for (const TensorType type : all_tensor_types()) {
    ThreadPool pool(1);
    const std::vector<std::byte> bytes = random_tensor(type, 35, 512, 1);
    const Matrix matrix = Matrix::pack(type, 35, 512, bytes, pool);
    std::vector<float> expected(35 * 512);
    dequantize(type, bytes, expected);
    std::vector<float> row(512);
    for (std::size_t i = 0; i < 35; ++i) {
      matrix.row(i, row);
      for (std::size_t j = 0; j < 512; ++j) ASSERT_EQ(row[j], expected[i * 512 + j]) << format_of(type).name;
    }
  }
}

TEST(Matrix, HasRowsAndColumns) {
  ThreadPool pool(1);
  for (const TensorType type : {TensorType::f32, TensorType::q4_0}) {
    EXPECT_THROW(Matrix::pack(type, 0, 32, {}, pool), BrokenContract);
    EXPECT_THROW(Matrix::pack(type, 4, 0, {}, pool), BrokenContract);
  }
}

/// Returns the bits of a weight in memory for the formats that take more than in their files.
double bits_in_memory(TensorType type) {
  switch (type) {
    using enum TensorType;
    case q1_0:
    case tq1_0:
    case tq2_0:
      return 2.25;
    case iq1_s:
    case iq1_m:
    case iq2_xxs:
    case iq2_xs:
    case iq2_s:
      return 3.3125;
    case iq3_xxs:
    case iq3_s:
      return 4.1875;
    default:
      return 0;
  }
}

TEST(Matrix, IsAsLargeAsItsFileButForFormatsOfThreeBitsAndLess) {
  for (const TensorType type : all_tensor_types()) {
    ThreadPool pool(1);
    const std::vector<std::byte> bytes = random_tensor(type, 64, 1024, 1);
    const std::size_t found = Matrix::pack(type, 64, 1024, bytes, pool).bytes();
    const auto bits = static_cast<std::size_t>(64 * 1024 * bits_in_memory(type));
    EXPECT_EQ(found, bits > 0 ? bits / 8 : bytes.size()) << format_of(type).name;
    EXPECT_GE(found, bytes.size()) << format_of(type).name;
  }
}

}  // namespace
}  // namespace spectr
