// Matrix products of every format at the shapes of a 1.1-billion-parameter model, against the speed at which
// two threads can read memory. Compare times of one run only: kernel_bench --benchmark_filter=Q4_0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "spectr/kernels/attention.h"
#include "spectr/kernels/matmul.h"
#include "spectr/kernels/tensor_type.h"
#include "spectr/kernels/vector_ops.h"
#include "spectr/model/machine_speed.h"

namespace spectr {
namespace {

constexpr int threads = 2;

struct Shape {
  std::size_t rows;
  std::size_t cols;
};

/// Bytes of a tensor whose factors are all moderate: each byte 0x11 to 0x2F.
std::vector<std::byte> tensor_bytes(TensorType type, Shape shape) {
  const TensorFormat& format = format_of(type);
  std::mt19937 random(1);
  std::vector<std::byte> bytes(shape.rows * shape.cols / format.elements * format.bytes);
  for (std::byte& b : bytes) b = static_cast<std::byte>(0x11 + random() % 0x1F);
  return bytes;
}

/// The most that a pass over weights can reach.
void read_memory(benchmark::State& state) {
  ThreadPool pool(threads);
  for (auto _ : state) state.counters["bytes_per_second"] = memory_bytes_per_second(pool);
}

/// `n` rows of x times copies of one matrix that together leave no cache warm.
void multiply(benchmark::State& state, TensorType type, Shape shape, std::size_t n) {
  constexpr std::size_t cold = std::size_t{160} << 20;
  ThreadPool pool(threads);
  MatmulScratch scratch;
  const std::vector<std::byte> bytes = tensor_bytes(type, shape);
  const std::size_t copies = std::max<std::size_t>(1, cold / bytes.size());
  const std::vector<std::vector<std::byte>> files(copies, bytes);  // plain formats borrow theirs
  std::vector<Matrix> matrices;
  for (const auto& file : files) matrices.push_back(Matrix::pack(type, shape.rows, shape.cols, file, pool));

  std::vector<float> x(n * shape.cols), y(n * shape.rows);
  std::mt19937 random(2);
  for (float& v : x) v = std::normal_distribution<float>()(random);
  std::size_t next = 0;
  for (auto _ : state) {
    const Product product[] = {{matrices[next++ % copies], {y.data(), n, shape.rows}}};
    matmul(product, {x.data(), n, shape.cols}, pool, scratch);
    benchmark::DoNotOptimize(y.data());
  }
  const double weights = static_cast<double>(shape.rows * shape.cols);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * matrices[0].bytes()));
  state.counters["products"] =
      benchmark::Counter(weights * static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate);
}

void register_all() {
  using enum TensorType;
  benchmark::RegisterBenchmark("read_memory", read_memory)->Iterations(1);
  for (const TensorType type : {q8_0, q4_0, q4_k, q6_k, f16, bf16, f32, q4_1, q5_0, q5_1, q2_k, q3_k, q5_k}) {
    for (const Shape shape : {Shape{2048, 2048}, Shape{5632, 2048}, Shape{2048, 5632}, Shape{32000, 2048}}) {
      for (const std::size_t n : {1, 2, 4, 8, 16, 32}) {
        const std::string name = std::string(format_of(type).name) + "/" + std::to_string(shape.rows) + "x" +
                                 std::to_string(shape.cols) + "/rows:" + std::to_string(n);
        benchmark::RegisterBenchmark(name.c_str(), multiply, type, shape, n)->UseRealTime();
      }
    }
  }
}

/// So many queries of one head over so many slots of floats or halves.
template <class T>
void attend_one_head(benchmark::State& state) {
  constexpr std::size_t width = 64;
  const auto count = static_cast<std::size_t>(state.range(0)),
             slots = static_cast<std::size_t>(state.range(1));
  const std::vector<float> q(width, 0.1f);
  const std::vector<T> cache((slots + key_group) * width);
  std::vector<float> scratch(attention_scratch(slots)), out(count * width);
  std::vector<Query> queries;
  for (std::size_t i = 0; i < count; ++i) queries.push_back({q.data(), slots, {}, &out[i * width]});
  for (auto _ : state) {
    attend(queries, width, cache.data(), cache.data(), 0.125f, scratch);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(attend_one_head<float>)->ArgsProduct({{1, 2, 4}, {16, 128, 512, 2048}});
BENCHMARK(attend_one_head<Half>)->ArgsProduct({{1, 2, 4}, {16, 128, 512, 2048}});

void softmax_of_vocabulary(benchmark::State& state) {
  std::vector<float> x(32000, 0.5f);
  for (auto _ : state) {
    softmax(x);
    benchmark::DoNotOptimize(x.data());
  }
}
BENCHMARK(softmax_of_vocabulary);

void rms_norm_of_2048(benchmark::State& state) {
  std::vector<float> x(2048, 0.5f), weight(2048, 1.0f);
  for (auto _ : state) {
    rms_norm(x, weight, 1e-5f, x);
    benchmark::DoNotOptimize(x.data());
  }
}
BENCHMARK(rms_norm_of_2048);

void swiglu_of_5632(benchmark::State& state) {
  std::vector<float> gate(5632, 0.5f), up(5632, 1.0f);
  for (auto _ : state) {
    swiglu(gate, up);
    benchmark::DoNotOptimize(gate.data());
  }
}
BENCHMARK(swiglu_of_5632);

}  // namespace
}  // namespace spectr

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  spectr::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
