// Kernel calls on Vulkan other than products: they have the bits of the twins that round each
// multiplication and each addition separately.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "spectr/backend/device/attention_rows.h"
#include "tests/support/devices/call_cases.h"
#include "tests/twins/twin_device.h"
#include "tests/vulkan/on_vulkan.h"

namespace spectr {
namespace {

using namespace test;

constexpr std::size_t one_gigabyte = std::size_t{1} << 30;
constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> scaled(std::vector<float> numbers, float by) {
  for (float& one : numbers) one *= by;
  return numbers;
}

class VulkanCalls : public OnVulkan<testing::Test> {
 protected:
  template <class Work>
  void expect_same_bits(const Work& work, const std::string& what) {
    TwinDevice twins(one_gigabyte, twin::Rounding::separate);
    EXPECT_EQ(work(*device_), work(twins)) << what;
  }
};

TEST_F(VulkanCalls, GiveTheBitsOfTheirTwins) {
  for (const auto& works :
       {norms_of_every_kind(), activations_of_every_kind(), questions_of_every_kind(), shortlists()}) {
    for (std::size_t i = 0; i < works.size(); ++i) expect_same_bits(works[i], std::to_string(i));
  }
}

TEST_F(VulkanCalls, QuantizeWhatNormsGiveAsTheirTwinsDo) {
  for (const std::size_t cols : {32, 96, 2080}) {
    constexpr std::size_t n = 10;
    const std::vector<float> x = random_floats(n * cols, 1);
    const auto work = [&](Device& on) {
      const QuantizedLayout layout{n, cols};
      const Numbers in = send(on, x), quantized = zeros(on, layout.bytes());
      run(on, call::Norm{.kind = NormSpec::Kind::rms,
                         .epsilon = 1e-5f,
                         .weight = {},
                         .bias = {},
                         .in = in.rows(cols),
                         .added = {},
                         .out = in.rows(cols),  // in place
                         .picked = {},
                         .rows = n,
                         .groups = 1,
                         .cols = cols,
                         .quantized = {quantized.at(), layout}});
      std::vector<std::uint32_t> all = bits(on, in);
      append_bits(all, bits(on, quantized));
      return all;
    };
    expect_same_bits(work, std::to_string(cols) + " columns");
  }
}

// Roots and quotients are computed with integers, for numbers of any size, NaN and infinity.
TEST_F(VulkanCalls, TakeRootsAndQuotientsThatAreRoundedOnce) {
  constexpr std::size_t n = 600, cols = 4;
  std::vector<float> x = random_floats(n * cols, 1);
  for (std::size_t r = 0; r < n; ++r) {
    // Squares must not be subnormal, because devices may flush those to 0.
    for (std::size_t j = 0; j < cols; ++j) x[r * cols + j] *= std::exp2(static_cast<float>(r % 112) - 52.0f);
  }
  x[5] = infinity;
  x[9] = nan;
  const auto work = [&](Device& on) {
    const Numbers in = send(on, x);
    run(on, call::Norm{.kind = NormSpec::Kind::rms,
                       .epsilon = 0.0f,
                       .weight = {},
                       .bias = {},
                       .in = in.rows(cols),
                       .added = {},
                       .out = in.rows(cols),
                       .picked = {},
                       .rows = n,
                       .groups = 1,
                       .cols = cols});
    std::vector<std::uint32_t> all = bits(on, in);
    for (std::uint32_t& one : all) {
      if ((one & 0x7fffffffu) > 0x7f800000u) one = 0x7fc00000u;
    }
    return all;
  };
  expect_same_bits(work, "norms of all sizes");
}

TEST_F(VulkanCalls, CopyAddAndScaleAsTheirTwinsDo) {
  constexpr std::size_t n = 3, cols = 515, stride = 520;
  const std::vector<float> x = random_floats(n * stride, 1), y = random_floats(n * stride, 2);
  const auto work = [&](Device& on) {
    const Numbers a = send(on, x), b = send(on, y);
    const call::AnyCall calls[] = {
        call::Add{a.rows(stride), b.rows(stride), n, cols}, call::Scale{a.rows(stride), n, cols, 0.3f},
        call::Copy{b.rows(stride), a.rows(stride), n, cols},
        call::Add{b.rows(stride), {a.at().behind(8), 0}, n, cols}};  // broadcasts one row
    EXPECT_TRUE(on.run(calls));
    std::vector<std::uint32_t> all = bits(on, a);
    append_bits(all, bits(on, b));
    return all;
  };
  expect_same_bits(work, "elementwise");
}

TEST_F(VulkanCalls, QuantizeWhatActivationsGive) {
  constexpr std::size_t n = 9, cols = 96;
  const QuantizedLayout layout{n, cols};
  const Numbers gate = send(*device_, random_floats(n * cols, 1)),
                up = send(*device_, random_floats(n * cols, 2)), fused = zeros(*device_, layout.bytes()),
                apart = zeros(*device_, layout.bytes());
  run(*device_, call::Activate{Activation::silu,
                               0.0f,
                               true,
                               gate.rows(cols),
                               up.rows(cols),
                               gate.rows(cols),
                               n,
                               cols,
                               {fused.at(), layout}});
  run(*device_, call::Quantize{gate.rows(cols), n, cols, {apart.at(), layout}});
  EXPECT_EQ(bits(*device_, fused), bits(*device_, apart));
}

TEST_F(VulkanCalls, TurnAndStoreAsTheirTwinsDo) {
  constexpr std::size_t n = 3, heads = 4, kv_heads = 2, dim = 24, slots = 2 * 64;
  for (const KvTypes& types : {KvTypes{KvType::f16, KvType::f32}, KvTypes{KvType::q8_0, KvType::f16}}) {
    for (const bool interleaved : {false, true}) {
      for (const bool stores : {true, false}) {
        const auto work = [&](Device& on) {
          const call::Cache sizes{{}, 0, 64, kv_heads, dim, types};
          const std::size_t block = 64 + kv_heads * sizes.head_bytes();
          const Numbers q = send(on, random_floats(n * heads * dim, 1)),
                        k = send(on, scaled(random_floats(n * kv_heads * dim, 2), 1e-4f)),
                        v = send(on, random_floats(n * kv_heads * dim, 3)),
                        rotated = zeros(on, n * heads * dim * sizeof(float)),
                        angles = send(on, random_floats(n * 16, 4)),
                        written = send(on, std::vector<PoolSlot>{64 + 63, 5, 64}),
                        scales = send(on, random_floats(n, 5)), pool = zeros(on, slots / 64 * block);
          run(on, call::Rope{.q = q.rows(heads * dim),
                             .k = stores ? k.rows(kv_heads * dim) : call::Rows(),
                             .v = stores ? v.rows(kv_heads * dim) : call::Rows(),
                             .rotated = rotated.rows(heads * dim),
                             .rows = n,
                             .heads = heads,
                             .cache = {pool.at(), block, 64, kv_heads, dim, types},
                             .angles = angles.at(),
                             .written = written.at(),
                             .scales = stores ? Slice() : scales.at(),
                             .first = 4,
                             .dims = 16,
                             .interleaved = interleaved,
                             .scale = 0.125f});
          std::vector<std::uint32_t> all = bits(on, rotated);
          append_bits(all, bits(on, pool));
          return all;
        };
        expect_same_bits(work, interleaved ? "pairs" : "halves");
      }
    }
  }
}

// Zero, numbers whose reciprocals overflow, NaN and infinity.
TEST_F(VulkanCalls, StoreRowsOfAnySizeAsTheirTwinsDo) {
  constexpr std::size_t dim = 32;
  for (const float size : {0.0f, 1e-31f, 1e-29f, 1.0f, 3e38f, infinity, nan}) {
    std::vector<float> x = random_floats(dim, 1);
    for (float& one : x) one = std::clamp(one, -1.0f, 1.0f) * std::min(size, 1e38f);
    x[7] = size;
    const auto work = [&](Device& on) {
      const call::Cache sizes{{}, 0, 0, 1, dim, {KvType::q8_0, KvType::f16}};
      const Numbers k = send(on, x), written = send(on, std::vector<PoolSlot>{9}),
                    pool = zeros(on, sizes.head_bytes()), angles = zeros(on, 16), rotated = zeros(on, 16);
      run(on, call::Rope{.q = k.rows(0),
                         .k = k.rows(dim),
                         .v = k.rows(dim),
                         .rotated = rotated.rows(0),
                         .rows = 1,
                         .heads = 0,
                         .cache = {pool.at(), sizes.head_bytes(), 0, 1, dim, sizes.types},
                         .angles = angles.at(),
                         .written = written.at(),
                         .scales = {},
                         .first = 0,
                         .dims = 0,
                         .interleaved = false,
                         .scale = 1});
      std::vector<std::uint32_t> all = bits(on, pool);
      for (std::uint32_t& one : all) {
        if (one >> 16 == 0x7fc0 || one >> 16 == 0xffc0) one = 0x7fc00000;
      }
      if (std::isnan(size)) std::fill_n(all.begin(), dim * 64 / 4, 0u);  // quants are unspecified
      return all;
    };
    expect_same_bits(work, std::to_string(size));
  }
}

TEST_F(VulkanCalls, MoveAsTheirTwinsDo) {
  const std::vector<MoveLine> lines = {{0, 4}, {256, 8}, {260, 8}};
  constexpr std::size_t words = 1024;
  std::vector<std::uint32_t> numbers(2 * words);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  const auto work = [&](Device& on) {
    const Numbers pool = send(on, numbers), of = send(on, lines);
    // Moves are sequential: a moved slot can be moved again.
    const Numbers plan = send(on, std::vector<int>{3, 0, 0, 0, 7, 64, 64, 70, 9, 7});
    run(on, call::Move{pool.at(), 4 * words, of.at(), lines.size(), plan.at(), plan.at().behind(16)});
    return bits(on, pool);
  };
  expect_same_bits(work, "moves");
}

TEST_F(VulkanCalls, QuantizeWhatAttentionGives) {
  constexpr std::size_t n = 2, heads = 3, dim = 32, width = heads * dim;
  const QuantizedLayout layout{n, width};
  const std::vector<AttentionRow> rows = {
      {.chunks = 9, .shared = 0, .part = 0, .rows = 0, .place = 0, .own = 0},
      {.chunks = 1, .shared = 0, .part = 0, .rows = 0, .place = 0, .own = 9}};
  std::vector<float> numbers = random_floats(10 * heads * (dim + 4), 1);
  for (float& one : numbers) one = std::abs(one);
  const Numbers parts = send(*device_, numbers), plan = send(*device_, rows),
                out = zeros(*device_, n * width * 4), fused = zeros(*device_, layout.bytes()),
                apart = zeros(*device_, layout.bytes());
  run(*device_,
      call::Merge{parts.at(), plan.at(), {}, out.rows(width), n, heads, heads, dim, {fused.at(), layout}});
  run(*device_, call::Quantize{out.rows(width), n, width, {apart.at(), layout}});
  EXPECT_EQ(bits(*device_, fused), bits(*device_, apart));
}

}  // namespace
}  // namespace spectr
