#include "spectr/gguf/dequantize.h"

#include <gtest/gtest.h>

#include <vector>

#include "spectr/base/check.h"

namespace spectr {
namespace {

/// A super-block of a format, all zero except the bytes that are set.
struct Block {
  TensorType type;
  std::vector<std::byte> bytes = std::vector<std::byte>(format_of(type).bytes);

  void set(std::size_t at, int value) { bytes[at] = static_cast<std::byte>(value); }
  void set_f16(std::size_t at, int bits) {
    set(at, bits & 255);
    set(at + 1, bits >> 8);
  }
  std::vector<float> values() const {
    std::vector<float> out(format_of(type).elements);
    dequantize(type, bytes, out);
    return out;
  }
};

constexpr int one = 0x3C00;
constexpr int half = 0x3800;

TEST(Dequantize, Q4_0TakesEightFromNibbles) {
  Block block{TensorType::q4_0};
  block.set_f16(0, one);
  block.set(2, 0x9F);
  EXPECT_EQ(block.values()[0], 7);
  EXPECT_EQ(block.values()[16], 1);
  EXPECT_EQ(block.values()[1], -8);
}

TEST(Dequantize, Q4_1AddsTheMinimum) {
  Block block{TensorType::q4_1};
  block.set_f16(0, one);
  block.set_f16(2, half);
  block.set(4, 0x9F);
  EXPECT_EQ(block.values()[0], 15.5f);
  EXPECT_EQ(block.values()[16], 9.5f);
  EXPECT_EQ(block.values()[31], 0.5f);
}

TEST(Dequantize, Q5_0HasFifthBitsApart) {
  Block block{TensorType::q5_0};
  block.set_f16(0, one);
  block.set(2, 0x01);  // quant 0
  block.set(4, 0x02);  // quant 17
  block.set(6, 0x0F);
  EXPECT_EQ(block.values()[0], 15);
  EXPECT_EQ(block.values()[17], 0);
  EXPECT_EQ(block.values()[16], -16);
}

TEST(Dequantize, Q5_1HasFifthBitsAndAMinimum) {
  Block block{TensorType::q5_1};
  block.set_f16(0, one);
  block.set_f16(2, half);
  block.set(7, 0x80);  // quant 31
  block.set(23, 0x30);
  EXPECT_EQ(block.values()[31], 19.5f);
  EXPECT_EQ(block.values()[15], 0.5f);
}

TEST(Dequantize, Q8_0IsSigned) {
  Block block{TensorType::q8_0};
  block.set_f16(0, half);
  block.set(2 + 5, 0xFD);
  block.set(2 + 6, 0x80);
  EXPECT_EQ(block.values()[5], -1.5f);
  EXPECT_EQ(block.values()[6], -64);
}

TEST(Dequantize, Q2_KHasAScaleAndAMinimumForSixteen) {
  Block block{TensorType::q2_k};
  block.set_f16(80, one);
  block.set_f16(82, half);
  block.set(2, 0x21);   // columns 32 … 47: scale 1, minimum 2
  block.set(16, 0x0C);  // column 32: 3
  EXPECT_EQ(block.values()[32], 2);
  EXPECT_EQ(block.values()[33], -1);
  EXPECT_EQ(block.values()[48], 0);
}

TEST(Dequantize, Q3_KHasScalesOfSixBitsAndAHighBit) {
  Block block{TensorType::q3_k};
  block.set_f16(108, one);
  block.set(96, 0x75);   // scale 0: low 5; scale 8: low 7
  block.set(104, 0x32);  // scale 0: high 2, so 37 − 32; scale 8: high 3, so 55 − 32
  block.set(32, 3);      // column 0
  block.set(0, 1);
  EXPECT_EQ(block.values()[0], 15);
  EXPECT_EQ(block.values()[1], -20);
  EXPECT_EQ(block.values()[128], -92);
}

TEST(Dequantize, Q4_KSplitsTheScalesOfTheSecondHalf) {
  Block block{TensorType::q4_k};
  block.set_f16(0, one);
  block.set_f16(2, half);
  block.set(4 + 9, 0x23);    // pair 5: scale low 3, minimum low 2
  block.set(4 + 1, 0x40);    // … scale 16 more
  block.set(16 + 64, 0x70);  // column 160
  EXPECT_EQ(block.values()[160], 19 * 7 - 1);
  EXPECT_EQ(block.values()[161], -1);
}

TEST(Dequantize, Q5_KHasAFifthBit) {
  Block block{TensorType::q5_k};
  block.set_f16(0, one);
  block.set(4 + 3, 7);       // pair 3: scale 7
  block.set(16, 1 << 3);     // column 96: 16
  block.set(48 + 32, 0x90);  // … and 9
  EXPECT_EQ(block.values()[96], 7 * 25);
  EXPECT_EQ(block.values()[97], 0);
}

TEST(Dequantize, Q6_KHasSignedScales) {
  Block block{TensorType::q6_k};
  block.set_f16(208, one);
  block.set(192 + 9, 0xFE);   // columns 144 … 159: −2
  block.set(80, 0x05);        // column 144: 5
  block.set(128 + 48, 0x02);  // … and 32
  EXPECT_EQ(block.values()[144], -10);
  EXPECT_EQ(block.values()[145], 64);
}

TEST(Dequantize, IQ4_NLLooksNumbersUp) {
  Block block{TensorType::iq4_nl};
  block.set_f16(0, half);
  block.set(2, 0x9F);
  block.set(3, 0x78);
  EXPECT_EQ(block.values()[0], 56.5f);
  EXPECT_EQ(block.values()[16], 6.5f);
  EXPECT_EQ(block.values()[1], 0.5f);
  EXPECT_EQ(block.values()[17], -5);
  EXPECT_EQ(block.values()[31], -63.5f);
}

TEST(Dequantize, IQ4_XSHasScalesOfSixBitsInTwoPlaces) {
  Block block{TensorType::iq4_xs};
  block.set_f16(0, one);
  block.set(4 + 2, 0x70);           // scale 5: low 7
  block.set(3, 2 << 2);             // … and high 2, so 39 − 32
  block.set(8 + 5 * 16 + 1, 0xF8);  // columns 161 and 177
  EXPECT_EQ(block.values()[161], 7);
  EXPECT_EQ(block.values()[177], 7 * 113);
  EXPECT_EQ(block.values()[160], 7 * -127);
  EXPECT_EQ(block.values()[128], -32 * -127);
}

TEST(Dequantize, RefusesBytesThatDoNotFit) {
  std::vector<float> out(32);
  EXPECT_THROW(dequantize(TensorType::q4_0, std::vector<std::byte>(17), out), BrokenContract);
  EXPECT_THROW(dequantize(TensorType::q4_k, std::vector<std::byte>(144), out), BrokenContract);
}

}  // namespace
}  // namespace spectr
