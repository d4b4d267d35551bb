#include "tests/support/devices/fibers.h"
// fibers.h must come first: the kernels included below run on fibers.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "spectr/backend/cuda/kernels/streamed_product.cuh"
#include "spectr/backend/device/weights/weight_panels.h"
#include "tests/support/random_tensor.h"
#include "tests/twins/twins.h"

namespace spectr {
namespace {

struct Problem {
  TensorType type;
  std::size_t rows, cols, n;
  std::vector<std::byte> file = test::random_tensor(type, rows, cols, 1);
  WeightPanels weights = pack_for_device(type, rows, cols, file);
  twin::QuantizedRows x = twin::quantize(test::random_floats(n * cols, 2), n);
};

/// Rows of x as they lie on a device (QuantizedLayout), but with `tiles` tiles.
struct Slabs {
  std::size_t count, scales_at, sums_at, numbers;  ///< offsets within a slab, and its size
  std::vector<std::uint32_t> words;

  Slabs(const twin::QuantizedRows& x, std::size_t tiles)
      : count((x.n + 63) / 64),
        scales_at(x.cols / 64 * tiles * 128),
        sums_at(scales_at + x.cols / 64 * tiles * 16),
        numbers(sums_at + x.cols / 64 * tiles * 16) {
    const auto rows_of = [](const auto& all, std::size_t first, std::size_t n, std::size_t cols) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * cols);
      return std::remove_cvref_t<decltype(all)>(begin, begin + static_cast<std::ptrdiff_t>(n * cols));
    };
    for (std::size_t first = 0; first < x.n; first += 64) {
      const std::size_t n = std::min<std::size_t>(64, x.n - first);
      const twin::ArrangedRows slab =
          twin::arrange({n, x.cols, rows_of(x.q, first, n, x.cols), rows_of(x.a, first, n, x.cols / 32)},
                        tiles, 0xFFFFFFFF);
      words.insert(words.end(), slab.codes.begin(), slab.codes.end());
      for (const std::vector<float>& floats : {slab.scales, slab.sums})
        for (const float number : floats) words.push_back(std::bit_cast<std::uint32_t>(number));
    }
  }
  template <class T>
  const T* at(std::size_t number) const {
    return reinterpret_cast<const T*>(words.data() + number);
  }
};

/// Returns y as the kernel computes it with `groups` groups and `ring` slots, with its parts summed.
template <class Format, class Shape>
std::vector<float> product(const Problem& problem, int groups, int ring, bool lazy) {
  constexpr cuda::ProductShape shape = Shape::shape;
  const auto rows = static_cast<int>(problem.rows), blocks = static_cast<int>(problem.x.cols / 64),
             panels = (rows + 15) / 16;
  const Slabs x(problem.x, static_cast<std::size_t>(shape.x_tiles()));
  const std::size_t size = problem.n * problem.rows;
  std::vector<float> y(static_cast<std::size_t>(shape.parts()) * size, NAN);
  const auto& table = panel_format(problem.type).table;
  cuda::Product p{.w = {},
                  .x = x.at<std::uint8_t>(0),
                  .x_scales = x.at<float>(x.scales_at),
                  .x_sums = x.at<float>(x.sums_at),
                  .table = {table[0], table[1], table[2], table[3]},
                  .panels = panels,
                  .blocks = blocks,
                  .n = static_cast<int>(problem.n),
                  .slabs = static_cast<int>(x.count),
                  .slab = static_cast<long>(x.numbers * sizeof(float)),
                  .ring = ring};
  p.w[0] = {.codes = problem.weights.codes.data(),
            .scales = problem.weights.scales.data(),
            .factors = problem.weights.factors.data(),
            .y = y.data(),
            .stride = static_cast<long>(problem.rows),
            .rows = rows,
            .first = 0};
  p.w[1].first = p.w[2].first = panels;
  int bytes = 0;
  if (shape.is_streamed()) {
    groups = (panels + shape.lanes() - 1) / shape.lanes() * shape.parts() * p.slabs;
    bytes = cuda::StreamedMemory{shape, Format::bytes}.bytes();
  } else {
    bytes = product_memory(shape, Format::bytes, panels, blocks, groups, ring).bytes();
  }
  using Kernel = cuda::ProductKernelOf<Format, Shape>::Kernel;
  cuda::fibers::launch({groups, 1, 32 * shape.warps, bytes, lazy}, [&] { Kernel(p).run(); });
  for (std::size_t h = 1; h < static_cast<std::size_t>(shape.parts()); h *= 2) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(shape.parts()); k += 2 * h) {
      for (std::size_t i = 0; i < size; ++i) y[k * size + i] += y[(k + h) * size + i];
    }
  }
  y.resize(size);
  return y;
}

std::vector<std::uint32_t> bits(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> all;
  for (const float number : numbers) all.push_back(std::bit_cast<std::uint32_t>(number));
  return all;
}

/// Formats of every kind, but not all: each kernel is compiled anew for each shape.
constexpr TensorType formats[] = {TensorType::q8_0, TensorType::q4_0, TensorType::q4_1,
                                  TensorType::q2_k, TensorType::q3_k, TensorType::q5_k};

template <class Shape>
void expect_bits_of_twin(const Problem& problem, int groups, int ring) {
  const std::vector<float> expected = twin::product(problem.type, problem.file, problem.rows, problem.x);
  for (const bool lazy : {false, true}) {
    std::vector<float> found;
    const auto with = [&]<class Format>(TensorType type, Format) {
      if (problem.type == type) found = product<Format, Shape>(problem, groups, ring, lazy);
    };
    with(TensorType::q8_0, cuda::Q8_0());
    with(TensorType::q4_0, cuda::Q4_0());
    with(TensorType::q4_1, cuda::Q4_1());
    with(TensorType::q2_k, cuda::Q2_K());
    with(TensorType::q3_k, cuda::Q3_K());
    with(TensorType::q5_k, cuda::Q5_K());
    EXPECT_EQ(bits(found), bits(expected))
        << format_of(problem.type).name << ' ' << problem.rows << 'x' << problem.cols;
  }
}

template <int tiles, int sharers, int warps, int segments, cuda::Columns columns>
using Shaped = cuda::Shaped<tiles, sharers, warps, segments, columns>;
using enum cuda::Columns;

TEST(CudaProduct, GivesTheBitsOfItsTwinAtEveryWidth) {
  for (const TensorType type : formats) {
    for (const std::size_t n : {1, 3, 8})
      expect_bits_of_twin<Shaped<1, 1, 4, 8, short_run>>({type, 40, 512, n}, 8, 1);
    for (const std::size_t n : {9, 16})
      expect_bits_of_twin<Shaped<2, 1, 8, 8, short_run>>({type, 40, 512, n}, 8, 1);
    for (const std::size_t n : {17, 32})
      expect_bits_of_twin<Shaped<2, 2, 8, 8, short_run>>({type, 40, 512, n}, 8, 1);
    for (const std::size_t n : {33, 64})
      expect_bits_of_twin<Shaped<2, 4, 16, 8, short_run>>({type, 40, 512, n}, 8, 1);
  }
}

TEST(CudaProduct, GivesTheSameBitsHoweverItIsShared) {
  for (const TensorType type : formats) {
    const Problem problem{type, 88, 2048, 2}, long_rows{type, 40, 5632, 2};
    expect_bits_of_twin<Shaped<1, 1, 4, 8, short_run>>(problem, 4, 2);
    expect_bits_of_twin<Shaped<1, 1, 4, 16, short_run>>(problem, 4, 3);
    expect_bits_of_twin<Shaped<1, 1, 8, 32, short_run>>(problem, 2, 1);
    expect_bits_of_twin<Shaped<1, 2, 8, 8, short_run>>(problem, 8, 2);
    expect_bits_of_twin<Shaped<1, 1, 4, 8, long_run>>(long_rows, 8, 1);
    expect_bits_of_twin<Shaped<2, 1, 8, 16, long_run>>(long_rows, 2, 2);
    expect_bits_of_twin<Shaped<2, 2, 8, 32, long_run>>(long_rows, 1, 2);
  }
}

// For streamed rows, the numbers of groups and slots are not configurable.
template <class Shape>
void expect_bits_of_twin(const Problem& problem) {
  expect_bits_of_twin<Shape>(problem, 0, 0);
}

TEST(CudaProduct, StreamsRowsWithTheBitsOfItsTwin) {
  for (const TensorType type : formats) {
    expect_bits_of_twin<Shaped<1, 1, 4, 8, streamed>>({type, 88, 2304, 1});
    expect_bits_of_twin<Shaped<2, 1, 4, 32, streamed>>({type, 24, 512, 9});
    expect_bits_of_twin<Shaped<2, 4, 8, 32, streamed>>({type, 40, 512, 65});
    expect_bits_of_twin<Shaped<2, 4, 8, 8, streamed>>({type, 24, 2304, 50});
    expect_bits_of_twin<Shaped<2, 2, 8, 8, streamed>>({type, 40, 768, 17});
  }
  expect_bits_of_twin<Shaped<2, 4, 8, 32, streamed>>({TensorType::q4_0, 40, 512, 33});
  expect_bits_of_twin<Shaped<2, 4, 16, 32, streamed>>({TensorType::q4_1, 72, 4608, 130});
}

TEST(CudaProduct, StreamsRowsByThreadsWithTheBitsOfItsTwin) {
  for (const TensorType type : formats) {
    expect_bits_of_twin<Shaped<1, 1, 4, 8, streamed_by_threads>>({type, 88, 512, 1});
    expect_bits_of_twin<Shaped<1, 1, 4, 32, streamed_by_threads>>({type, 88, 2304, 8});
    expect_bits_of_twin<Shaped<2, 1, 4, 8, streamed_by_threads>>({type, 24, 4608, 9});
    expect_bits_of_twin<Shaped<2, 2, 8, 32, streamed_by_threads>>({type, 40, 512, 30});
  }
  expect_bits_of_twin<Shaped<2, 4, 16, 32, streamed_by_threads>>({TensorType::q8_0, 40, 768, 129});
}

TEST(CudaProduct, KeepsWeightsUntilAllSharersHaveReadThem) {
  const Problem problem{TensorType::q8_0, 400, 512, 16};
  for (const int ring : {1, 2}) expect_bits_of_twin<Shaped<1, 2, 8, 8, short_run>>(problem, 4, ring);
  expect_bits_of_twin<Shaped<1, 2, 8, 32, short_run>>(problem, 2, 3);
}

TEST(CudaProduct, TakesWhatIsNoWholeBlock) {
  for (const TensorType type : {TensorType::q8_0, TensorType::q4_0, TensorType::q4_1}) {
    expect_bits_of_twin<Shaped<1, 1, 4, 8, short_run>>({type, 19, 288, 1}, 4, 1);
    expect_bits_of_twin<Shaped<1, 1, 4, 8, long_run>>({type, 19, 2080, 1}, 4, 1);
    expect_bits_of_twin<Shaped<2, 4, 8, 32, streamed>>({type, 19, 2080, 66});
    expect_bits_of_twin<Shaped<1, 1, 4, 32, streamed_by_threads>>({type, 19, 288, 3});
  }
}

}  // namespace
}  // namespace spectr
