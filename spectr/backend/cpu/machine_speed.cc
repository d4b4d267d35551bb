#include "spectr/backend/cpu/machine_speed.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "spectr/backend/cpu/kernel_level.h"
#include "spectr/backend/cpu/kernels/aligned_bytes.h"
#include "spectr/backend/cpu/kernels/matmul.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/stopwatch.h"

namespace spectr {
namespace {

/// Returns the minimum seconds of `repetitions` calls, after a warm-up call.
template <class Work>
double min_seconds(int repetitions, Work work) {
  work();
  double least = 1e9;
  Stopwatch watch;
  for (int i = 0; i < repetitions; ++i) {
    watch.lap();
    work();
    least = std::min(least, watch.lap());
  }
  return std::max(least, 1e-9);
}

/// Returns the maximum products per second of matrix products with cached weights of a type, at the most
/// efficient number of rows.
double products_per_second(TensorType type, ThreadPool& pool) {
  // 144 to 272 KiB of weights per thread, which stay in its L2 cache.
  const TensorFormat& format = format_of(type);
  const std::size_t rows = (format.is_quantized() ? 256 : 64) * static_cast<std::size_t>(pool.threads());
  constexpr std::size_t cols = 1024;
  const std::vector<std::byte> bytes(rows * cols / format.elements * format.bytes, std::byte{0x11});
  const Matrix w = Matrix::pack(type, rows, cols, bytes, pool);
  double best = 0.0;
  MatmulScratch scratch;
  for (const std::size_t n : {8, 16, 32, 64}) {
    const std::vector<float> x(n * cols, 0.5f);
    std::vector<float> y(n * rows);
    const Product product[] = {{w, {y.data(), n, rows}}};
    const double seconds = min_seconds(100, [&] { matmul(product, {x.data(), n, cols}, pool, scratch); });
    best = std::max(best, static_cast<double>(rows * cols * n) / seconds);
  }
  return best;
}

}  // namespace

double memory_bytes_per_second(ThreadPool& pool) {
  constexpr std::size_t count = std::size_t{64} << 20, pieces = 256, quarter = count / pieces / 4;
  constexpr std::size_t step = 256;  // in numbers
  const AlignedBytes bytes = allocate_aligned(count * sizeof(float));
  std::memset(bytes.get(), 0, count * sizeof(float));
  const std::span<const float> memory(reinterpret_cast<const float*>(bytes.get()), count);
  std::vector<float> sums(pieces);
  const auto read = [&](std::size_t piece) {  // reads four quarters concurrently
    float sum = 0.0f;
    for (std::size_t at = 4 * quarter * piece; at < 4 * quarter * piece + quarter; at += step) {
      sum += dot(memory.subspan(at, step), memory.subspan(at + quarter, step));
      sum += dot(memory.subspan(at + 2 * quarter, step), memory.subspan(at + 3 * quarter, step));
    }
    return sum;
  };
  const double seconds = min_seconds(15, [&] {
    pool.parallel_for(pieces, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) sums[i] = read(i);
    });
  });
  return static_cast<double>(count * sizeof(float)) / seconds;
}

double integer_macs_per_second(ThreadPool& pool) {
  return std::max(products_per_second(TensorType::q8_0, pool), products_per_second(TensorType::q4_0, pool));
}

double float_macs_per_second(ThreadPool& pool) {
  return products_per_second(TensorType::f32, pool);
}

MachineSpeed measure_machine_speed(ThreadPool& pool) {
  return {memory_bytes_per_second(pool), integer_macs_per_second(pool), float_macs_per_second(pool)};
}

std::string_view instruction_set() {
  return name_of(available_levels().back());
}

}  // namespace spectr
