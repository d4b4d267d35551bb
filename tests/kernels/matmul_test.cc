#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "spectr/kernels/dequantise.h"
#include "spectr/kernels/kernel_level.h"
#include "spectr/kernels/matrix.h"
#include "spectr/kernels/scalar_ops.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

using test::all_tensor_types;
using test::random_floats;
using test::random_tensor;

std::string label(KernelLevel level, TensorType type) {
  return std::string(name_of(level)) + " " + std::string(format_of(type).name);
}

struct Problem {
  TensorType type;
  std::size_t rows;
  std::size_t cols;
  std::vector<std::byte> bytes = random_tensor(type, rows, cols, 1);
  ThreadPool pool{2};
  Matrix matrix = Matrix::pack(type, rows, cols, bytes, pool);
  MatmulScratch scratch = {};

  std::vector<float> product(KernelLevel level, std::vector<float> x) {
    const std::size_t n = x.size() / cols;
    std::vector<float> y(n * rows, NAN);
    matmul_at(level, matrix, {x.data(), n, cols}, {y.data(), n, rows}, pool, scratch);
    return y;
  }
};

TEST(Matrix, RowGivesBackTheNumbersOfTheFile) {
  for (const TensorType type : all_tensor_types()) {
    Problem problem{type, 35, 512};
    std::vector<float> expected(35 * 512);
    dequantise(type, problem.bytes, expected);
    std::vector<float> row(512);
    for (std::size_t i = 0; i < 35; ++i) {
      problem.matrix.row(i, row);
      for (std::size_t j = 0; j < 512; ++j) ASSERT_EQ(row[j], expected[i * 512 + j]) << format_of(type).name;
    }
  }
}

TEST(Matmul, IsWithinTheBoundOfQuantisedActivations) {
  for (const TensorType type : all_tensor_types()) {
    Problem problem{type, 37, 768};
    const std::vector<float> x = random_floats(3 * 768, 2);
    std::vector<float> exact(3 * 37);
    scalar::matmul(type, problem.bytes, {x.data(), 3, 768}, {exact.data(), 3, 37});
    for (const KernelLevel level : available_levels()) {
      const std::vector<float> y = problem.product(level, x);
      double error = 0, size = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        error += std::pow(y[i] - exact[i], 2);
        size += std::pow(exact[i], 2);
      }
      EXPECT_LT(std::sqrt(error / size), 0.01) << label(level, type);
    }
  }
}

TEST(Matmul, GivesTheSameBitsAtEveryLevel) {
  for (const TensorType type : all_tensor_types()) {
    Problem problem{type, 37, 768};
    const std::vector<float> x = random_floats(11 * 768, 3);
    const std::vector<float> expected = problem.product(KernelLevel::portable, x);
    for (const KernelLevel level : available_levels()) {
      EXPECT_EQ(problem.product(level, x), expected) << label(level, type);
    }
  }
}

TEST(Matmul, GivesARowTheSameBitsWhateverTheOthers) {
  const std::vector<float> x = random_floats(33 * 256, 4);
  for (const TensorType type : all_tensor_types()) {
    Problem problem{type, 19, 256};
    for (const KernelLevel level : available_levels()) {
      const std::vector<float> all = problem.product(level, x);
      for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32}) {
        const std::vector<float> first =
            problem.product(level, {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n * 256)});
        EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()))
            << label(level, type) << ", " << n << " rows";
      }
    }
  }
}

}  // namespace
}  // namespace spectr
