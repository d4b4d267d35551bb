#include "spectr/gguf/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spectr/gguf/dequantize.h"
#include "spectr/gguf/gguf.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

std::vector<float> numbers_of(const GgufTensor& tensor) {
  std::vector<float> numbers(tensor.rows() * tensor.cols());
  dequantize(static_cast<TensorType>(tensor.type), tensor.bytes, numbers);
  return numbers;
}

// The reference is the quantizer of the package gguf (tests/data/make_quantized.py).
TEST(Quantize, WritesTheBytesOfAnotherQuantizer) {
  const Gguf file = Gguf::open(*find_data("quantized.gguf")).value();
  const std::vector<float> numbers = numbers_of(*file.tensor("numbers"));
  for (const TensorType type : quantizable_types()) {
    const TensorFormat& format = format_of(type);
    const GgufTensor* expected = file.tensor(type == TensorType::f32 ? "numbers" : format.name);
    ASSERT_NE(expected, nullptr) << format.name;
    std::vector<std::byte> bytes(expected->bytes.size());
    quantize(type, numbers, bytes);
    for (std::size_t i = 0; i < bytes.size(); i += format.bytes) {
      EXPECT_TRUE(std::ranges::equal(std::span(bytes).subspan(i, format.bytes),
                                     expected->bytes.subspan(i, format.bytes)))
          << format.name << ", block " << i / format.bytes;
    }
  }
}

TEST(Quantize, OfWhatItWroteNothingChanges) {
  const Gguf file = Gguf::open(*find_data("quantized.gguf")).value();
  for (const TensorType type : {TensorType::q8_0, TensorType::q5_0, TensorType::q4_0, TensorType::f16}) {
    const GgufTensor& tensor = *file.tensor(format_of(type).name);
    const std::vector<float> numbers = numbers_of(tensor);
    std::vector<std::byte> again(tensor.bytes.size());
    quantize(type, numbers, again);
    std::vector<float> found(numbers.size());
    dequantize(type, again, found);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(found[i], numbers[i], 2e-3 * std::abs(numbers[i]) + 1e-7) << format_of(type).name << i;
  }
}

}  // namespace
}  // namespace spectr
