#include "spectr/kernels/dequantise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/kernels/half.h"

namespace spectr {
namespace {

/// A unit of a format, zero but for the bytes that are set.
struct Unit {
  TensorType type;
  std::vector<std::byte> bytes = std::vector<std::byte>(format_of(type).bytes);

  void set(std::size_t at, int value) { bytes[at] = static_cast<std::byte>(value); }
  void set_half(std::size_t at, int bits) {
    set(at, bits & 255);
    set(at + 1, bits >> 8);
  }
  std::vector<float> values() const {
    std::vector<float> out(format_of(type).elements);
    dequantise(type, bytes, out);
    return out;
  }
};

constexpr int one = 0x3C00;
constexpr int half = 0x3800;

TEST(Halves, AreTheNumbersOfIeee754) {
  EXPECT_EQ(half_to_float(0x3C00), 1.0f);
  EXPECT_EQ(half_to_float(0xC000), -2.0f);
  EXPECT_EQ(half_to_float(0x7BFF), 65504.0f);
  EXPECT_EQ(half_to_float(0x0400), 0x1p-14f);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(half_to_float(0x83FF), -1023 * 0x1p-24f);
  EXPECT_TRUE(std::signbit(half_to_float(0x8000)));
  EXPECT_EQ(half_to_float(0xFC00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(half_to_float(0x7E00)));
  EXPECT_EQ(bfloat_to_float(0x3F80), 1.0f);
}

TEST(Dequantise, Q4_0TakesEightFromNibbles) {
  Unit unit{TensorType::q4_0};
  unit.set_half(0, one);
  unit.set(2, 0x9F);
  EXPECT_EQ(unit.values()[0], 7);
  EXPECT_EQ(unit.values()[16], 1);
  EXPECT_EQ(unit.values()[1], -8);
}

TEST(Dequantise, Q4_1AddsTheMinimum) {
  Unit unit{TensorType::q4_1};
  unit.set_half(0, one);
  unit.set_half(2, half);
  unit.set(4, 0x9F);
  EXPECT_EQ(unit.values()[0], 15.5f);
  EXPECT_EQ(unit.values()[16], 9.5f);
  EXPECT_EQ(unit.values()[31], 0.5f);
}

TEST(Dequantise, Q5_0HasFifthBitsApart) {
  Unit unit{TensorType::q5_0};
  unit.set_half(0, one);
  unit.set(2, 0x01);  // code 0
  unit.set(4, 0x02);  // code 17
  unit.set(6, 0x0F);
  EXPECT_EQ(unit.values()[0], 15);
  EXPECT_EQ(unit.values()[17], 0);
  EXPECT_EQ(unit.values()[16], -16);
}

TEST(Dequantise, Q5_1HasFifthBitsAndAMinimum) {
  Unit unit{TensorType::q5_1};
  unit.set_half(0, one);
  unit.set_half(2, half);
  unit.set(7, 0x80);  // code 31
  unit.set(23, 0x30);
  EXPECT_EQ(unit.values()[31], 19.5f);
  EXPECT_EQ(unit.values()[15], 0.5f);
}

TEST(Dequantise, Q8_0IsSigned) {
  Unit unit{TensorType::q8_0};
  unit.set_half(0, half);
  unit.set(2 + 5, 0xFD);
  unit.set(2 + 6, 0x80);
  EXPECT_EQ(unit.values()[5], -1.5f);
  EXPECT_EQ(unit.values()[6], -64);
}

TEST(Dequantise, Q2_KHasAScaleAndAMinimumForSixteen) {
  Unit unit{TensorType::q2_k};
  unit.set_half(80, one);
  unit.set_half(82, half);
  unit.set(2, 0x21);   // columns 32 … 47: scale 1, minimum 2
  unit.set(16, 0x0C);  // column 32: 3
  EXPECT_EQ(unit.values()[32], 2);
  EXPECT_EQ(unit.values()[33], -1);
  EXPECT_EQ(unit.values()[48], 0);
}

TEST(Dequantise, Q3_KHasScalesOfSixBitsAndAHighBit) {
  Unit unit{TensorType::q3_k};
  unit.set_half(108, one);
  unit.set(96, 0x75);   // scale 0: low 5; scale 8: low 7
  unit.set(104, 0x32);  // scale 0: high 2, so 37 − 32; scale 8: high 3, so 55 − 32
  unit.set(32, 3);      // column 0
  unit.set(0, 1);
  EXPECT_EQ(unit.values()[0], 15);
  EXPECT_EQ(unit.values()[1], -20);
  EXPECT_EQ(unit.values()[128], -92);
}

TEST(Dequantise, Q4_KSplitsTheScalesOfTheSecondHalf) {
  Unit unit{TensorType::q4_k};
  unit.set_half(0, one);
  unit.set_half(2, half);
  unit.set(4 + 9, 0x23);    // pair 5: scale low 3, minimum low 2
  unit.set(4 + 1, 0x40);    // … scale 16 more
  unit.set(16 + 64, 0x70);  // column 160
  EXPECT_EQ(unit.values()[160], 19 * 7 - 1);
  EXPECT_EQ(unit.values()[161], -1);
}

TEST(Dequantise, Q5_KHasAFifthBit) {
  Unit unit{TensorType::q5_k};
  unit.set_half(0, one);
  unit.set(4 + 3, 7);       // pair 3: scale 7
  unit.set(16, 1 << 3);     // column 96: 16
  unit.set(48 + 32, 0x90);  // … and 9
  EXPECT_EQ(unit.values()[96], 7 * 25);
  EXPECT_EQ(unit.values()[97], 0);
}

TEST(Dequantise, Q6_KHasSignedScales) {
  Unit unit{TensorType::q6_k};
  unit.set_half(208, one);
  unit.set(192 + 9, 0xFE);   // columns 144 … 159: −2
  unit.set(80, 0x05);        // column 144: 5
  unit.set(128 + 48, 0x02);  // … and 32
  EXPECT_EQ(unit.values()[144], -10);
  EXPECT_EQ(unit.values()[145], 64);
}

TEST(Dequantise, IQ4_NLLooksNumbersUp) {
  Unit unit{TensorType::iq4_nl};
  unit.set_half(0, half);
  unit.set(2, 0x9F);
  unit.set(3, 0x78);
  EXPECT_EQ(unit.values()[0], 56.5f);
  EXPECT_EQ(unit.values()[16], 6.5f);
  EXPECT_EQ(unit.values()[1], 0.5f);
  EXPECT_EQ(unit.values()[17], -5);
  EXPECT_EQ(unit.values()[31], -63.5f);
}

TEST(Dequantise, IQ4_XSHasScalesOfSixBitsInTwoPlaces) {
  Unit unit{TensorType::iq4_xs};
  unit.set_half(0, one);
  unit.set(4 + 2, 0x70);           // scale 5: low 7
  unit.set(3, 2 << 2);             // … and high 2, so 39 − 32
  unit.set(8 + 5 * 16 + 1, 0xF8);  // columns 161 and 177
  EXPECT_EQ(unit.values()[161], 7);
  EXPECT_EQ(unit.values()[177], 7 * 113);
  EXPECT_EQ(unit.values()[160], 7 * -127);
  EXPECT_EQ(unit.values()[128], -32 * -127);
}

TEST(Dequantise, RefusesBytesThatDoNotFit) {
  std::vector<float> out(32);
  EXPECT_THROW(dequantise(TensorType::q4_0, std::vector<std::byte>(17), out), BrokenContract);
  EXPECT_THROW(dequantise(TensorType::q4_k, std::vector<std::byte>(144), out), BrokenContract);
}

}  // namespace
}  // namespace spectr
