#include "spectr/nn/kv_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

/// Returns numbers after rounding to q8_0.
std::vector<float> kept(const std::vector<float>& x) {
  std::vector<std::int8_t> quants(x.size());
  const float scale = round_to_q8(x, quants);
  std::vector<float> kept;
  for (const std::int8_t quant : quants) kept.push_back(static_cast<float>(quant) * scale);
  return kept;
}

TEST(RoundToQ8, IsOffByHalfAStepAtMost) {
  for (const float size : {1e-29f, 1e-6f, 1.0f, 1e4f, 1e38f}) {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
      std::vector<float> x = test::random_floats(q8_dims, seed);
      for (float& number : x) number *= size / 5;
      float largest = 0;
      for (const float number : x) largest = std::max(largest, std::abs(number));
      const std::vector<float> found = kept(x);
      for (std::size_t j = 0; j < x.size(); ++j) {
        const double off = std::abs(double{found[j]} - double{x[j]});
        ASSERT_LE(off, (0.5 + 0x1p-15) * double{largest} / 127 * (1 + 0x1p-23)) << x[j];
      }
    }
  }
}

TEST(RoundToQ8, KeepsItsStepsZerosAndTheLargestNumber) {
  EXPECT_EQ(kept({127, -127, 0, 1, 2.4f, -64.6f}), (std::vector<float>{127, -127, 0, 1, 2, -65}));
  EXPECT_EQ(kept({0, 0, -0.0f}), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(kept({1e-31f, 0}), (std::vector<float>{0, 0})) << "next to nothing";
}

TEST(RoundToQ8, IsNotFiniteWhereANumberIsNot) {
  for (const float wrong : {NAN, -NAN, std::numeric_limits<float>::infinity()}) {
    for (const float number : kept({1, wrong, 0, -3})) EXPECT_FALSE(std::isfinite(number)) << wrong;
  }
}

}  // namespace
}  // namespace spectr
