#include "spectr/backend/cpu/kernels/state_ops.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/every_target.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

using test::random_floats;

TEST(StateOps, ProductsAreSumsOfProducts) {
  at_every_target([] {
    for (const std::size_t rows : {1, 3, 16}) {
      for (const std::size_t cols : {1, 7, 16, 33, 128}) {
        const auto m = random_floats(rows * cols, 1), a = random_floats(cols, 2), b = random_floats(cols, 3);
        std::vector<float> y(rows), z(rows);
        two_products(m, a, b, y, z);
        for (std::size_t i = 0; i < rows; ++i) {
          double first = 0, second = 0;
          for (std::size_t j = 0; j < cols; ++j) {
            first += double{m[i * cols + j]} * double{a[j]};
            second += double{m[i * cols + j]} * double{b[j]};
          }
          EXPECT_NEAR(y[i], first, 1e-5);
          EXPECT_NEAR(z[i], second, 1e-5);
        }
      }
    }
  });
}

TEST(StateOps, UpdatesAreRoundedOnceForAProductAndOnceForASum) {
  at_every_target([] {
    for (const std::size_t cols : {1, 7, 33, 128}) {
      const std::size_t rows = 5;
      auto m = random_floats(rows * cols, 1);
      const auto before = m;
      const auto u = random_floats(rows, 2), k = random_floats(cols, 3);
      add_outer_product(m, u, k);
      for (std::size_t i = 0; i < m.size(); ++i) {
        const float product = u[i / cols] * k[i % cols];
        EXPECT_EQ(m[i], before[i] + product);
      }
      scale(m, 0.75F);
      EXPECT_EQ(m[0], 0.75F * (before[0] + u[0] * k[0]));
      std::vector<float> y = before;
      add_scaled(y, -2.0F, m);
      for (std::size_t i = 0; i < m.size(); ++i) EXPECT_EQ(y[i], before[i] - 2.0F * m[i]);
    }
  });
}

}  // namespace
}  // namespace spectr
