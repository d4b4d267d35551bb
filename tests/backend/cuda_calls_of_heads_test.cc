// Attention of every kind and products per head have the bits of the twins on the mock of the CUDA driver.
#include <gtest/gtest.h>

#include "spectr/backend/cuda/cuda_device.h"
#include "tests/support/devices/device_attention.h"
#include "tests/support/devices/head_products.h"
#include "tests/support/devices/mock_cuda.h"
#include "tests/support/value_of.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;

std::shared_ptr<Device> open(const MockCuda& mock) {
  return value_of(cuda::CudaDevice::open(mock.driver(), 0, MockCuda::image));
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForAttentionOfEveryKind) {
  bool lazy = false;
  for (const AttentionCase& c : attention_cases()) {
    TwinDevice twins;
    lazy = !lazy;
    const MockCuda mock({.lazy = lazy});
    EXPECT_EQ(attention_bits(*open(mock), c), attention_bits(twins, c)) << text_of(c);
  }
}

TEST(CudaCalls, GiveTheBitsOfTheirTwinsForProductsByHead) {
  for (const HeadProductCase& c : head_product_cases()) {
    TwinDevice twins;
    const MockCuda mock;
    EXPECT_EQ(head_product_bits(*open(mock), c), head_product_bits(twins, c)) << text_of(c);
  }
}

TEST(CudaCalls, CopyTheBeginningsOfHeads) {
  const MockCuda mock;
  EXPECT_EQ(copied_heads(*open(mock)), copied_heads_as_defined());
}

}  // namespace
}  // namespace spectr
