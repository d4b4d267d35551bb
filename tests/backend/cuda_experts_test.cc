// Kernels of mixtures of experts on fibers have the bits of their twins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "spectr/backend/cuda/cuda_device.h"
#include "tests/support/devices/expert_cases.h"
#include "tests/support/devices/mock_cuda.h"
#include "tests/support/value_of.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;

/// Runs `works` on the twins and on a mock GPU with `settings`, and expects the same bits.
void expect_same_bits(const std::vector<WorkOnDevice>& works, const MockCuda::Settings& settings = {}) {
  const MockCuda mock(settings);
  const auto cuda = value_of(cuda::CudaDevice::open(mock.driver(), 0, MockCuda::image));
  TwinDevice twins;
  for (const WorkOnDevice& work : works) EXPECT_EQ(work(*cuda), work(twins));
}

TEST(CudaExperts, AreChosenAndWeighedAsTheirTwinsAre) {
  expect_same_bits(choosing_of_every_kind());
}

TEST(CudaExperts, ThatHaveNoNumberAreChosenAsTheirTwinsAre) {
  expect_same_bits(choosing_without_numbers());
}

TEST(CudaExperts, HaveTheListsOfTheirTwins) {
  expect_same_bits(lists_of_experts());
}

TEST(CudaExperts, MultiplyWithTheBitsOfTheirTwins) {
  expect_same_bits(expert_products({TensorType::q8_0, TensorType::q5_0, TensorType::q4_k, TensorType::q6_k,
                                    TensorType::q2_k, TensorType::mxfp4, TensorType::f32, TensorType::bf16}));
}

TEST(CudaExperts, MultiplyWithTheBitsOfTheirTwinsBeforeHopper) {
  for (const int major : {8, 7})
    expect_same_bits(expert_products({TensorType::q3_k}), {.major = major, .minor = 5});
}

TEST(CudaExperts, WaitForAllThatIsCopied) {
  expect_same_bits(expert_products({TensorType::q4_1}), {.lazy = true});
}

TEST(CudaExperts, MultiplyByTensorCoresWhereSlotsShareThem) {
  std::vector<std::string> ran;
  const auto kernels_of = [&](const Mixture& of) {
    ran.clear();
    expect_same_bits(products_of(TensorType::q8_0, 16, 32, of),
                     {.milliseconds = [&](const std::string& name, int) {
                       ran.push_back(name);
                       return 1.0;
                     }});
    return ran;
  };
  EXPECT_THAT(kernels_of({1, 2, 8, 0, 8}), testing::Contains("expert_product_1"));
  EXPECT_THAT(kernels_of({7, 2, 3, 0, 3}), testing::Contains("product_q8_0_1_1_4_32_of_experts"));
  EXPECT_THAT(kernels_of({35, 2, 2, 0, 2}), testing::Contains("product_q8_0_2_2_8_32_of_experts"));
}

TEST(CudaExperts, AreAddedWithTheBitsOfTheirTwins) {
  expect_same_bits(additions_of_experts());
}

}  // namespace
}  // namespace spectr
