#include "spectr/gguf/f16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace spectr {
namespace {

constexpr std::uint16_t largest = 0x7BFF;  // 65504; after it infinity, then NaN

TEST(F16ToFloat, GivesTheNumbersOfIeee754) {
  EXPECT_EQ(f16_to_float(0x3C00), 1.0f);
  EXPECT_EQ(f16_to_float(0xC000), -2.0f);
  EXPECT_EQ(f16_to_float(0x7BFF), 65504.0f);
  EXPECT_EQ(f16_to_float(0x0400), 0x1p-14f);
  EXPECT_EQ(f16_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(f16_to_float(0x83FF), -1023 * 0x1p-24f);
  EXPECT_TRUE(std::signbit(f16_to_float(0x8000)));
  EXPECT_EQ(f16_to_float(0xFC00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(f16_to_float(0x7E00)));
}

TEST(BF16ToFloat, GivesTheUpperHalfOfAFloat) {
  EXPECT_EQ(bf16_to_float(0x3F80), 1.0f);
}

TEST(RoundToF16, KeepsNumbersThatAreF16) {
  for (std::uint32_t bits = 0; bits <= largest; ++bits) {
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const auto number = static_cast<std::uint16_t>(bits | sign);
      ASSERT_EQ(round_to_f16(f16_to_float(number)).bits, number);
    }
  }
}

TEST(RoundToF16, TakesTheNearerOfTwoAndTheEvenOneOfEquals) {
  for (std::uint16_t below = 0; below < largest; ++below) {
    const auto above = static_cast<std::uint16_t>(below + 1);
    const float middle = (f16_to_float(below) + f16_to_float(above)) / 2;  // exact
    ASSERT_EQ(round_to_f16(middle).bits, below % 2 == 0 ? below : above);
    ASSERT_EQ(round_to_f16(std::nextafter(middle, 0.0f)).bits, below);
    ASSERT_EQ(round_to_f16(std::nextafter(middle, 1e6f)).bits, above);
    ASSERT_EQ(round_to_f16(-middle).bits, round_to_f16(middle).bits | 0x8000);
  }
}

TEST(RoundToF16, LimitsWhatIsTooLargeAndKeepsInfinityAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {65504.0f, 65519.0f, 65520.0f, 1e30f}) {
    EXPECT_EQ(round_to_f16(x).bits, largest) << x;
    EXPECT_EQ(round_to_f16(-x).bits, largest | 0x8000) << -x;
  }
  EXPECT_EQ(f16_to_float(round_to_f16(infinity).bits), infinity);
  EXPECT_EQ(f16_to_float(round_to_f16(-infinity).bits), -infinity);
  EXPECT_TRUE(std::isnan(f16_to_float(round_to_f16(std::numeric_limits<float>::quiet_NaN()).bits)));
}

}  // namespace
}  // namespace spectr
