// The kernels as data: rounding in their SPIR-V, the dispatches of calls, and barriers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "spectr/backend/vulkan/dispatch.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;
using vulkan::Dispatch;
using vulkan::Kernel;

/// Iterates over a module's instructions, as opcode and words.
template <class Each>
void for_each_instruction(std::span<const std::uint32_t> words, Each each) {
  constexpr std::size_t header = 5;
  for (std::size_t at = header; at < words.size(); at += words[at] >> 16)
    each(words[at] & 0xffff, words.subspan(at, words[at] >> 16));
}

class VulkanKernels : public testing::TestWithParam<int> {
 protected:
  std::span<const std::uint32_t> words() const {
    return vulkan::code_of(static_cast<Kernel>(GetParam())).words;
  }
};

// A compiler that contracts a multiplication and an addition (FMA) would change bits.
TEST_P(VulkanKernels, LetNoSumOrProductOfFloatsBeContracted) {
  if (words().empty()) GTEST_SKIP() << "the glslc of this build knows no GL_KHR_cooperative_matrix";
  constexpr std::uint32_t decorate = 71, no_contraction = 42, add = 129, sub = 131, mul = 133;
  std::set<std::uint32_t> kept;
  int found = 0;
  for_each_instruction(words(), [&](std::uint32_t operation, auto all) {
    if (operation == decorate && all[2] == no_contraction) kept.insert(all[1]);
    if (operation != add && operation != sub && operation != mul) return;
    EXPECT_TRUE(kept.contains(all[2]));
    ++found;
  });
  const std::string name = vulkan::code_of(static_cast<Kernel>(GetParam())).name;
  const bool has_floats =
      name != "move" && name != "copy_heads" && name != "top" && name != "spread" && name != "group_experts";
  EXPECT_EQ(found > 0, has_floats);
}

TEST_P(VulkanKernels, FuseNothing) {
  constexpr std::uint32_t extended = 12, fma = 50;
  for_each_instruction(words(), [&](std::uint32_t operation, auto all) {
    EXPECT_FALSE(operation == extended && all[4] == fma);
  });
}

TEST_P(VulkanKernels, AskForRoundingToTheNearest) {
  constexpr std::uint32_t execution_mode = 16, to_nearest_even = 4462, keeps_signs = 4461;
  std::set<std::uint32_t> modes;
  for_each_instruction(words(), [&](std::uint32_t operation, auto all) {
    if (operation == execution_mode) modes.insert(all[2]);
  });
  const auto kernel = static_cast<Kernel>(GetParam());
  if (words().empty()) GTEST_SKIP() << "the glslc of this build knows no GL_KHR_cooperative_matrix";
  if (kernel == Kernel::move || kernel == Kernel::copy_heads || kernel == Kernel::group_experts)
    return;  // no float arithmetic
  EXPECT_TRUE(modes.contains(to_nearest_even));
  EXPECT_TRUE(modes.contains(keeps_signs));
}

INSTANTIATE_TEST_SUITE_P(All, VulkanKernels, testing::Range(0, vulkan::kernel_count),
                         [](const testing::TestParamInfo<int>& one) {
                           return std::string(vulkan::code_of(static_cast<Kernel>(one.param)).name);
                         });

class VulkanDispatches : public testing::Test {
 protected:
  std::vector<Dispatch> of(const call::AnyCall& call,
                           const vulkan::DispatchLimits& limits = {64, 1 << 30}) const {
    std::vector<Dispatch> all;
    EXPECT_TRUE(vulkan::add_dispatches(call, limits, all));
    return all;
  }
  TwinDevice host_;
};

TEST_F(VulkanDispatches, BindPlacesAsTheDeviceAligns) {
  const Numbers x = zeros(host_, 4096);
  const auto all = of(call::Scale{{x.at().behind(100), 50}, 2, 40, 2.0f});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].bindings[0].at, x.at().behind(64));
  EXPECT_EQ(all[0].bindings[0].bytes, 36 + (50 + 40) * sizeof(float));
  EXPECT_EQ(all[0].parameters[1], 9u);  // offset of x in the binding
}

TEST_F(VulkanDispatches, OfThreeRowsAndMoreMultiplyByMatricesWhereThereAreSuch) {
  const QuantizedLayout layout{70, 512};
  const Numbers w = zeros(host_, 1 << 16), x = zeros(host_, layout.bytes()), y = zeros(host_, 1 << 16);
  const auto dispatches_of = [&](TensorType type, std::size_t rows, const vulkan::DispatchLimits& limits) {
    return of(
        call::Product{{x.at(), {rows, 512}}, rows, {{{type, 40, 512, w.at(), w.at(), w.at()}, y.rows(40)}}},
        limits);
  };
  vulkan::DispatchLimits limits{64, 1 << 30, 48 << 10, vulkan::Matrices{16, 8, 32, 32}};
  const bool has_kernel = !vulkan::code_of(Kernel::matrix_product).words.empty();
  const Kernel wide = has_kernel ? Kernel::matrix_product : Kernel::panel_product;
  for (const TensorType type : {TensorType::q8_0, TensorType::q6_k}) {
    EXPECT_EQ(dispatches_of(type, 2, limits)[0].kernel, Kernel::panel_product);
    EXPECT_EQ(dispatches_of(type, 3, {64, 1 << 30})[0].kernel, Kernel::panel_product);
    const Dispatch few = dispatches_of(type, 3, limits)[0];
    EXPECT_EQ(few.kernel, wide);
    if (!has_kernel) continue;
    EXPECT_EQ(few.subgroup, 32u);
    EXPECT_EQ(few.constants[0], 8u);        // rows of x
    EXPECT_EQ(few.constants.back(), 256u);  // invocations
    EXPECT_EQ(few.groups_x, 1u);
    EXPECT_EQ(dispatches_of(type, 70, limits)[0].groups_x, 4u);  // a slab of 64 rows, in tiles of 16
  }
  limits.shared_bytes = 16 << 10;
  if (has_kernel) {
    EXPECT_EQ(dispatches_of(TensorType::q8_0, 3, limits)[0].constants.back(), 128u);
  }
}

TEST_F(VulkanDispatches, WaitWhereTheyReadWhatWasWrittenOrWriteWhatWasReadOrWritten) {
  const Numbers a = zeros(host_, 4096), b = zeros(host_, 4096), c = zeros(host_, 4096);
  vulkan::Hazards hazards;
  const auto waits = [&](const Numbers& to, const Numbers& from) {
    return hazards.need_barrier(of(call::Copy{to.rows(8), from.rows(8), 1, 8})[0]);
  };
  EXPECT_FALSE(waits(b, a));
  EXPECT_FALSE(waits(c, a));  // read after read needs no barrier
  EXPECT_TRUE(waits(a, b));   // b was written
  EXPECT_FALSE(waits(c, b));  // c is unused since the barrier
  EXPECT_TRUE(waits(c, b));   // c was written
  EXPECT_TRUE(waits(b, a));   // b was read
  EXPECT_FALSE(hazards.need_barrier(of(call::Scale{{c.at().behind(512), 8}, 1, 8, 2.0f})[0]));
}

TEST_F(VulkanDispatches, OfAPassWaitOnlyWhereTheyMust) {
  // Queries, keys and values are products of the same x.
  const Numbers x = zeros(host_, 1 << 16), w = zeros(host_, 1 << 16);
  std::vector<Numbers> y;
  for (int i = 0; i < 3; ++i) y.push_back(zeros(host_, 4096));
  vulkan::Hazards hazards;
  EXPECT_FALSE(hazards.need_barrier(of(call::Scale{x.rows(64), 1, 64, 2.0f})[0]));
  int barriers = 0;
  for (const Numbers& one : y) {
    const call::FloatProduct product{{TensorType::f32, 16, 64, w.at()}, x.rows(64), one.rows(16), 1};
    barriers += hazards.need_barrier(of(product)[0]) ? 1 : 0;
  }
  EXPECT_EQ(barriers, 1);
}

}  // namespace
}  // namespace spectr
