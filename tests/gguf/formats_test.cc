// Every quantized format agrees with the reader of the package gguf (tests/data/make_formats.py).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spectr/gguf/dequantize.h"
#include "spectr/gguf/gguf.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

/// Returns the numbers of an F32 or I8 tensor.
std::vector<float> numbers_of(const GgufTensor& tensor) {
  std::vector<float> numbers(tensor.rows() * tensor.cols());
  if (static_cast<TensorType>(tensor.type) == TensorType::f32) {
    dequantize(TensorType::f32, tensor.bytes, numbers);
  } else {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int8_t>(tensor.bytes[i]);
  }
  return numbers;
}

/// Expects the blocks called `name` in a file to decode to the numbers stored next to them.
void expect_numbers(const Gguf& file, const std::string& name, TensorType type) {
  const GgufTensor* const blocks = file.tensor(name);
  const GgufTensor* const numbers = file.tensor(name + ".numbers");
  ASSERT_TRUE(blocks != nullptr && numbers != nullptr) << name;
  const std::vector<float> expected = numbers_of(*numbers);
  std::vector<float> found(expected.size());
  dequantize(type, blocks->bytes, found);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i]) << name << ", number " << i;
}

TEST(Formats, AreReadAsAnotherReaderReadsThem) {
  const Gguf file = Gguf::open(*find_data("formats.gguf")).value();
  for (const TensorFormat& format : tensor_formats()) {
    if (format.is_quantized()) expect_numbers(file, std::string(format.name), format.type);
  }
}

TEST(Formats, HaveTheGridsOfAnotherReader) {
  const Gguf file = Gguf::open(*find_data("formats.gguf")).value();
  using enum TensorType;
  for (const TensorType type : {iq1_s, iq2_xxs, iq2_xs, iq2_s, iq3_xxs, iq3_s})
    expect_numbers(file, std::string(format_of(type).name) + ".grid", type);
}

}  // namespace
}  // namespace spectr
