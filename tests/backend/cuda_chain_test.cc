// Products that share a launch, use split-K, or have their launch configurations chosen by trial runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "spectr/backend/cuda/cuda_device.h"
#include "spectr/backend/cuda/plan_trial.h"
#include "spectr/backend/device/weights/weight_panels.h"
#include "tests/support/devices/device_numbers.h"
#include "tests/support/devices/mock_cuda.h"
#include "tests/support/random_tensor.h"
#include "tests/support/value_of.h"
#include "tests/twins/twin_device.h"

namespace spectr {
namespace {

using namespace test;
using cuda::CudaDevice;
using testing::Contains;
using testing::HasSubstr;

constexpr std::size_t n = 3, width = 256;

/// A matrix of weights on a device.
struct Matrix {
  std::size_t rows;
  Numbers codes, scales;

  Matrix(Device& device, std::size_t of_rows, std::uint32_t seed, std::size_t cols = width) : rows(of_rows) {
    const WeightPanels panels =
        pack_for_device(TensorType::q8_0, rows, cols, random_tensor(TensorType::q8_0, rows, cols, seed));
    codes = send(device, panels.codes);
    scales = send(device, panels.scales);
  }
  call::Weights weights(std::size_t cols = width) const {
    return {TensorType::q8_0, rows, cols, codes.at(), scales.at()};
  }
};

Numbers random_rows(Device& device, std::size_t cols, std::uint32_t seed) {
  return send(device, random_floats(n * cols, seed));
}
/// Allocates an output large enough for the maximum split-K factor of a device.
Numbers room(Device& device, std::size_t cols) {
  return send(device, std::vector<float>(4 * n * cols, NAN));
}

/// Names of the kernels that ran.
using Names = std::vector<std::string>;

/// Expects `work` to return the same bits on the twins, on Hopper and on Ampere. Returns the names of
/// the kernels that ran on these two.
template <class Work>
std::array<Names, 2> expect_same_bits(const Work& work) {
  TwinDevice twins;
  const auto expected = work(twins);
  std::array<Names, 2> names;
  for (const int major : {9, 8}) {
    Names& ran = names[major == 9 ? 0 : 1];
    const MockCuda mock({.major = major, .milliseconds = [&ran](const std::string& name, int) {
                           ran.push_back(name);
                           return 1.0;
                         }});
    const auto device = value_of(CudaDevice::open(mock.driver(), 0, MockCuda::image));
    EXPECT_EQ(work(*device), expected) << major;
  }
  return names;
}

constexpr std::size_t dim = 16, heads = 4, kv_heads = 2;

/// A cache of one block.
call::Cache cache_on(const Numbers& pool) {
  return {.pool = pool.at(),
          .block_bytes = kv_heads * 256 * dim,
          .layer = 0,
          .kv_heads = kv_heads,
          .dim = dim,
          .types = {KvType::f16, KvType::f16}};
}

class QueryKeyValue : public testing::TestWithParam<bool> {};

TEST_P(QueryKeyValue, AreOneLaunchInPartsThatTurningAdds) {
  const bool normalizes = GetParam();
  const auto names = expect_same_bits([&](Device& device) {
    const Matrix q(device, heads * dim, 1), k(device, kv_heads * dim, 2), v(device, kv_heads * dim, 3);
    const Numbers x = random_rows(device, width, 4),
                  quantized{device.allocate(QuantizedLayout{n, width}.bytes())};
    const Numbers query = room(device, q.rows), key = room(device, k.rows), value = room(device, v.rows);
    const Numbers rotated = room(device, q.rows), pool = zeros(device, kv_heads * 256 * dim);
    const Numbers angles = send(device, random_floats(n * dim, 5)),
                  to = send(device, std::vector<int>{3, 9, 60});
    const call::QuantizedRows rows{quantized.at(), {n, width}};
    std::vector<call::AnyCall> calls = {call::Quantize{x.rows(width), n, width, rows},
                                        call::Product{rows,
                                                      n,
                                                      {{q.weights(), query.rows(q.rows)},
                                                       {k.weights(), key.rows(k.rows)},
                                                       {v.weights(), value.rows(v.rows)}},
                                                      true}};
    if (normalizes) {
      for (const auto& [numbers, groups] : {std::pair(&query, heads), {&key, kv_heads}}) {
        calls.emplace_back(call::Norm{.kind = NormSpec::Kind::rms,
                                      .epsilon = 1e-6f,
                                      .weight = {},
                                      .bias = {},
                                      .in = numbers->rows(groups * dim),
                                      .added = {},
                                      .out = numbers->rows(groups * dim),
                                      .picked = {},
                                      .rows = n,
                                      .groups = groups,
                                      .cols = dim});
      }
    }
    calls.emplace_back(call::Rope{.q = query.rows(q.rows),
                                  .k = key.rows(k.rows),
                                  .v = value.rows(v.rows),
                                  .rotated = rotated.rows(q.rows),
                                  .rows = n,
                                  .heads = heads,
                                  .cache = cache_on(pool),
                                  .angles = angles.at(),
                                  .written = to.at(),
                                  .scales = {},
                                  .first = 0,
                                  .dims = dim,
                                  .interleaved = false,
                                  .scale = 0.25f});
    EXPECT_TRUE(device.run(calls));
    std::vector<std::uint32_t> all = bits(device, rotated), kept = bits(device, pool);
    all.resize(n * q.rows);
    all.insert(all.end(), kept.begin(), kept.end());
    return all;
  });
  for (const Names& ran : names)
    EXPECT_EQ(std::ranges::count_if(ran, [](const auto& name) { return name.starts_with("product_"); }), 1);
  EXPECT_THAT(names[0], Contains("product_q8_0_1_1_4_8_short_run"));  // split-K factor 4
  EXPECT_THAT(names[1], Contains("product_q8_0_1_1_4_8_streamed_by_threads"));
}

INSTANTIATE_TEST_SUITE_P(Heads, QueryKeyValue, testing::Bool());

TEST(GateAndUp, AreOneLaunchInPartsThatTheActivationAdds) {
  const auto names = expect_same_bits([&](Device& device) {
    constexpr std::size_t inner = 88;  // partial panels
    const Matrix gate(device, inner, 1), up(device, inner, 2);
    const Numbers x = random_rows(device, width, 3),
                  quantized{device.allocate(QuantizedLayout{n, width}.bytes())};
    const Numbers gated = room(device, inner), raised = room(device, inner);
    const call::QuantizedRows rows{quantized.at(), {n, width}};
    const std::vector<call::AnyCall> calls = {
        call::Quantize{x.rows(width), n, width, rows},
        call::Product{
            rows, n, {{gate.weights(), gated.rows(inner)}, {up.weights(), raised.rows(inner)}}, true},
        call::Activate{.activation = Activation::silu,
                       .clamp = 0,
                       .has_gate = true,
                       .gate = gated.rows(inner),
                       .up = raised.rows(inner),
                       .out = gated.rows(inner),
                       .rows = n,
                       .cols = inner}};
    EXPECT_TRUE(device.run(calls));
    std::vector<std::uint32_t> all = bits(device, gated);
    all.resize(n * inner);
    return all;
  });
  EXPECT_THAT(names[0], Contains("product_q8_0_1_1_4_8_short_run"));
}

TEST(BranchInParts, IsAddedByTheNormThatFollows) {
  for (const std::size_t of_width : {40, 2600, 9000}) {
    expect_same_bits([&](Device& device) {
      const Matrix down(device, of_width, 1);
      const Numbers x = random_rows(device, width, 3),
                    quantized{device.allocate(QuantizedLayout{n, width}.bytes())};
      const Numbers branch = room(device, of_width), stream = random_rows(device, of_width, 4),
                    normed = room(device, of_width), weight = send(device, random_floats(of_width, 5));
      const call::QuantizedRows rows{quantized.at(), {n, width}};
      const std::vector<call::AnyCall> calls = {
          call::Quantize{x.rows(width), n, width, rows},
          call::Product{rows, n, {{down.weights(), branch.rows(of_width)}}, true},
          call::Norm{.kind = NormSpec::Kind::rms,
                     .epsilon = 1e-5f,
                     .weight = weight.at(),
                     .bias = {},
                     .in = stream.rows(of_width),
                     .added = branch.rows(of_width),
                     .out = normed.rows(of_width),
                     .picked = {},
                     .rows = n,
                     .groups = 1,
                     .cols = of_width}};
      EXPECT_TRUE(device.run(calls));
      std::vector<std::uint32_t> all = bits(device, stream), out = bits(device, normed);
      all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n * of_width));
      return all;
    });
  }
}

/// Calls of a pass with one product of two matrices.
struct SmallPass {
  Matrix gate, up;
  Numbers x, quantized, y, z;
  std::vector<call::AnyCall> calls;

  explicit SmallPass(Device& device)
      : gate(device, 128, 1),
        up(device, 64, 2),
        x(random_rows(device, width, 3)),
        quantized{device.allocate(QuantizedLayout{n, width}.bytes())},
        y(room(device, 128)),
        z(room(device, 64)) {
    const call::QuantizedRows rows{quantized.at(), {n, width}};
    calls = {call::Quantize{x.rows(width), n, width, rows},
             call::Product{rows, n, {{gate.weights(), y.rows(128)}, {up.weights(), z.rows(64)}}}};
  }
};

TEST(PlanTrial, TakesWhatIsFastestAndGivesTheSameBits) {
  std::string fastest = "product_q8_0_1_1_8_32_short_run";
  const MockCuda mock({.milliseconds = [&](const std::string& name, int groups) {
    return name == fastest && groups == 4 ? 1.0 : 2.0;
  }});
  const auto device = value_of(CudaDevice::open(mock.driver(), 0, MockCuda::image, {.min_bytes = 1}));
  const SmallPass pass(*device);
  const auto recording = value_of(device->record(pass.calls));
  ASSERT_TRUE(device->run(*recording));
  const std::vector<std::uint32_t> found = bits(*device, pass.y);
  const int before = mock.launched();
  const auto again = value_of(device->record(pass.calls));  // without a trial
  ASSERT_TRUE(device->run(*again));
  EXPECT_EQ(mock.launched(), before + 2);

  const cuda::ProductPlan plan = *device->plans().of(cuda::sizes_of(std::get<call::Product>(pass.calls[1])));
  EXPECT_EQ(kernel_of(TensorType::q8_0, plan.shape), fastest);
  EXPECT_EQ(plan.groups, 4);
  TwinDevice twins;
  const SmallPass there(twins);
  ASSERT_TRUE(twins.run(there.calls));
  EXPECT_EQ(found, bits(twins, there.y));
}

TEST(PlanTrial, IsMadeForLargePassesOnly) {
  const MockCuda mock;
  const auto device = value_of(CudaDevice::open(mock.driver(), 0, MockCuda::image));
  const SmallPass pass(*device);
  const auto recording = value_of(device->record(pass.calls));
  EXPECT_EQ(mock.launched(), 0);
}

TEST(PlanTrial, IsKeptInAFileAndTakenFromThereWhereItFits) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("spectr-plans-" + std::to_string(::getpid()));
  const MockCuda mock({.milliseconds = [](const std::string& name, int) {
    return name == "product_q8_0_1_1_4_32_short_run" ? 1.0 : 2.0;
  }});
  const cuda::TrialSettings settings{.min_bytes = 1, .kept = file};
  const auto open = [&] { return value_of(CudaDevice::open(mock.driver(), 0, MockCuda::image, settings)); };
  {
    const auto device = open();
    const SmallPass pass(*device);
    ASSERT_TRUE(device->record(pass.calls));
  }
  std::ostringstream lines;
  lines << std::ifstream(file).rdbuf();
  EXPECT_THAT(lines.str(), HasSubstr("Q8_0 12 4 1 0 1 1 4 32 0 "));
  const int before = mock.launched();
  {
    const auto device = open();
    const SmallPass pass(*device);
    ASSERT_TRUE(device->record(pass.calls));
  }
  EXPECT_EQ(mock.launched(), before);
  std::ofstream(file)
      << "Q8_0 12 4 1 0 1 1 4 32 0 999 1\nQ9_9 1 2 3\nnothing\nQ8_0 12 4 99 0 1 1 4 32 0 8 1\n";
  EXPECT_TRUE(open()->plans().chosen().empty());
  std::filesystem::remove(file);
  EXPECT_TRUE(open()->plans().chosen().empty());
}

TEST(PlanTrial, RunsNothingThatReadsWhatAPassSends) {
  TwinDevice twins;
  const SmallPass pass(twins);
  std::vector<call::AnyCall> calls = pass.calls;
  calls.emplace_back(call::Move{});
  calls.emplace_back(call::Rope{});
  calls.emplace_back(call::Attend{});
  calls.emplace_back(call::Merge{});
  call::Norm of_wanted{};
  of_wanted.picked = pass.x.at();
  calls.emplace_back(of_wanted);
  EXPECT_EQ(cuda::calls_for_trial(calls).size(), pass.calls.size());
}

}  // namespace
}  // namespace spectr
