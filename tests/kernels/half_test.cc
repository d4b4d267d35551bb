// Halves: what is rounded to them, one by one and in vectors.
#include "spectr/kernels/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "spectr/kernels/vector_ops.h"
#include "tests/support/every_target.h"

namespace spectr {
namespace {

constexpr std::uint16_t largest = 0x7BFF;  // 65504; after it infinity, then NaN

TEST(NearestHalf, OfAHalfIsThatHalf) {
  for (std::uint32_t bits = 0; bits <= largest; ++bits) {
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const auto half = static_cast<std::uint16_t>(bits | sign);
      ASSERT_EQ(nearest_half(half_to_float(half)).bits, half);
    }
  }
}

TEST(NearestHalf, IsTheNearerOfTwoAndTheEvenOneOfEquals) {
  for (std::uint16_t below = 0; below < largest; ++below) {
    const auto above = static_cast<std::uint16_t>(below + 1);
    const float middle = (half_to_float(below) + half_to_float(above)) / 2;  // exact
    ASSERT_EQ(nearest_half(middle).bits, below % 2 == 0 ? below : above);
    ASSERT_EQ(nearest_half(std::nextafter(middle, 0.0f)).bits, below);
    ASSERT_EQ(nearest_half(std::nextafter(middle, 1e6f)).bits, above);
    ASSERT_EQ(nearest_half(-middle).bits, nearest_half(middle).bits | 0x8000);
  }
}

TEST(NearestHalf, CutsWhatIsTooLargeAndKeepsWhatIsNoNumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {65504.0f, 65519.0f, 65520.0f, 1e30f}) {
    EXPECT_EQ(nearest_half(x).bits, largest) << x;
    EXPECT_EQ(nearest_half(-x).bits, largest | 0x8000) << -x;
  }
  EXPECT_EQ(half_to_float(nearest_half(infinity).bits), infinity);
  EXPECT_EQ(half_to_float(nearest_half(-infinity).bits), -infinity);
  EXPECT_TRUE(std::isnan(half_to_float(nearest_half(std::numeric_limits<float>::quiet_NaN()).bits)));
}

TEST(NearestHalves, AreTheNearestHalfOfEveryNumber) {
  std::mt19937 generator(1);
  std::vector<float> x;
  for (int i = 0; i < 20'000; ++i) x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(generator())));
  for (int exponent = -30; exponent < 18; ++exponent) x.push_back(std::ldexp(1.5f, exponent));
  for (const float special : {0.0f, std::numeric_limits<float>::infinity(), NAN, -NAN}) x.push_back(special);
  at_every_target([&] {
    std::vector<Half> halves(x.size());
    nearest_halves(x, halves);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(halves[i].bits, nearest_half(x[i]).bits) << x[i];
  });
}

}  // namespace
}  // namespace spectr
