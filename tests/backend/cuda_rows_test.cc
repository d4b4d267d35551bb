#include "tests/support/fibers.h"
// Fibers first: they are what the kernels below run on.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "spectr/backend/cuda/kernels/rows.cuh"
#include "spectr/backend/device/twins.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

using test::random_floats;

constexpr std::size_t n = 3, tiles = 2;

/// Room for n rows of x, as a kernel wants it.
struct Room {
  twin::ArrangedRows rows;
  explicit Room(std::size_t width)
      : rows(twin::arrange({.n = 0, .cols = (width + 63) / 64 * 64, .q = {}, .a = {}}, tiles)) {}
  cuda::QuantizedRows out() {
    return {reinterpret_cast<cuda::u8*>(rows.codes.data()), rows.scales.data(), rows.sums.data(), tiles};
  }
  void expect(const std::vector<float>& x) const {
    const twin::ArrangedRows as_twin = arrange(twin::quantize(x, n), tiles);
    EXPECT_EQ(rows.codes, as_twin.codes);
    EXPECT_EQ(rows.scales, as_twin.scales);
    EXPECT_EQ(rows.sums, as_twin.sums);
  }
};

/// The parts of a product, and their sum.
struct Parts {
  std::vector<float> y, sum;
  Parts(std::size_t parts, std::size_t size) : y(random_floats(parts * size, 1)), sum(size) {
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<float> numbers;
      for (std::size_t k = 0; k < parts; ++k) numbers.push_back(y[k * size + i]);
      sum[i] = twin::sum_as_tree(numbers);
    }
  }
};

TEST(CudaRows, AddTheBranchAndNormalize) {
  for (const std::size_t width : {288, 2048, 5120}) {
    const Parts branch(4, n * width);
    const std::vector<float> before = random_floats(n * width, 2), weight = random_floats(width, 3);
    std::vector<float> stream = before, normed;
    Room room(width);
    const cuda::Prepare p{.y = branch.y.data(),
                          .stream = stream.data(),
                          .weight = weight.data(),
                          .out = room.out(),
                          .n = n,
                          .width = static_cast<int>(width),
                          .epsilon = 1e-5f,
                          .part_of_mean = 1.0f / static_cast<float>(width)};
    cuda::fibers::launch({n, 1, cuda::PrepareKernel<4>::threads}, [&] { cuda::PrepareKernel<4>::run<4>(p); });
    for (std::size_t i = 0; i < stream.size(); ++i) EXPECT_EQ(stream[i], before[i] + branch.sum[i]);
    for (std::size_t r = 0; r < n; ++r) {
      const std::vector<float> row =
          twin::rms_norm(std::span(stream).subspan(r * width, width), weight, 1e-5f);
      normed.insert(normed.end(), row.begin(), row.end());
    }
    room.expect(normed);
  }
}

TEST(CudaRows, AreGatedBySilu) {
  for (const std::size_t width : {288, 1536}) {
    const Parts both(2, n * 2 * width);
    std::vector<float> x;
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t gate = r * 2 * width + i;
        x.push_back(twin::silu(both.sum[gate]) * both.sum[gate + width]);
      }
    }
    Room room(width);
    const cuda::ActivateParts p{
        .y = both.y.data(), .out = room.out(), .n = n, .width = static_cast<int>(width)};
    const auto groups = static_cast<int>((width + 511) / 512);
    cuda::fibers::launch({n, groups, cuda::ActivatePartsKernel::threads},
                         [&] { cuda::ActivatePartsKernel::run<2>(p); });
    room.expect(x);
  }
}

}  // namespace
}  // namespace spectr
