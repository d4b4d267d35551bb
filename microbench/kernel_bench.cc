// Benchmarks all kernels at the sizes of a 1.1-billion-parameter model, including matrix products of every
// format, for comparison with the memory bandwidth of two threads. Compare times of a single run only:
// kernel_bench --benchmark_filter=Q4_0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spectr/backend/cpu/kernels/activations.h"
#include "spectr/backend/cpu/kernels/attention.h"
#include "spectr/backend/cpu/kernels/matmul.h"
#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/backend/cpu/machine_speed.h"
#include "spectr/base/vector_math.h"
#include "spectr/gguf/tensor_type.h"
#include "tests/support/block_table.h"

namespace spectr {
namespace {

constexpr int threads = 2;

struct Shape {
  std::size_t rows;
  std::size_t cols;
};

/// Returns tensor bytes whose scales are all moderate: each byte is 0x11 to 0x2F.
std::vector<std::byte> tensor_bytes(TensorType type, Shape shape) {
  const TensorFormat& format = format_of(type);
  std::mt19937 random(1);
  std::vector<std::byte> bytes(shape.rows * shape.cols / format.elements * format.bytes);
  for (std::byte& b : bytes) b = static_cast<std::byte>(0x11 + random() % 0x1F);
  return bytes;
}

/// Returns normally distributed numbers.
std::vector<float> random_floats(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(random);
  return numbers;
}

/// Measures the memory bandwidth, the upper bound for passes over weights.
void read_memory(benchmark::State& state) {
  ThreadPool pool(threads);
  for ([[maybe_unused]] auto _ : state) state.counters["bytes_per_second"] = memory_bytes_per_second(pool);
}

/// Multiplies `n` rows of x by copies of a matrix that together exceed all caches.
void multiply(benchmark::State& state, TensorType type, Shape shape, std::size_t n, KernelLevel level) {
  constexpr std::size_t cold = std::size_t{160} << 20;
  ThreadPool pool(threads);
  MatmulScratch scratch;
  const std::vector<std::byte> bytes = tensor_bytes(type, shape);
  const std::size_t copies = std::max<std::size_t>(1, cold / bytes.size());
  const std::vector<std::vector<std::byte>> files(copies, bytes);  // unquantized formats refer to them
  std::vector<Matrix> matrices;
  for (const auto& file : files) matrices.push_back(Matrix::pack(type, shape.rows, shape.cols, file, pool));

  const std::vector<float> x = random_floats(n * shape.cols, 2);
  std::vector<float> y(n * shape.rows);
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Product product[] = {{matrices[next++ % copies], {y.data(), n, shape.rows}}};
    matmul_at(level, product, {x.data(), n, shape.cols}, pool, scratch);
    benchmark::DoNotOptimize(y.data());
  }
  const double weights = static_cast<double>(shape.rows * shape.cols);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * matrices[0].bytes()));
  state.counters["macs"] =
      benchmark::Counter(weights * static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate);
}

/// Packs a matrix from its file format to the kernels' layout.
void pack(benchmark::State& state, TensorType type, Shape shape) {
  ThreadPool pool(threads);
  const std::vector<std::byte> bytes = tensor_bytes(type, shape);
  for ([[maybe_unused]] auto _ : state) {
    const Matrix matrix = Matrix::pack(type, shape.rows, shape.cols, bytes, pool);
    benchmark::DoNotOptimize(&matrix);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}

void register_matrices() {
  using enum TensorType;
  constexpr TensorType types[] = {q8_0, q4_0, q4_k, q6_k,   f16,    bf16,  f32,   q4_1,  q5_0,  q5_1,
                                  q2_k, q3_k, q5_k, iq4_nl, iq4_xs, mxfp4, iq3_s, iq2_s, iq1_s, q2_0};
  const auto name_of_shape = [](TensorType type, Shape shape) {
    return std::string(format_of(type).name) + "/" + std::to_string(shape.rows) + "x" +
           std::to_string(shape.cols);
  };
  const auto name_of_product = [&](TensorType type, Shape shape, std::size_t n) {
    return name_of_shape(type, shape) + "/rows:" + std::to_string(n);
  };
  const KernelLevel best = available_levels().back();
  constexpr Shape wide = {5632, 2048};
  benchmark::RegisterBenchmark("read_memory", read_memory)->Iterations(1);
  for (const TensorType type : types) {
    for (const Shape shape : {Shape{2048, 2048}, wide, Shape{2048, 5632}, Shape{32000, 2048}}) {
      for (const std::size_t n : {1, 2, 4, 8, 16, 32, 64}) {
        const std::string name = name_of_product(type, shape, n);
        benchmark::RegisterBenchmark(name.c_str(), multiply, type, shape, n, best)->UseRealTime();
      }
    }
    for (const std::size_t n : {1, 8, 16}) {
      for (const KernelLevel level : available_levels()) {
        const std::string name = name_of_product(type, wide, n) + "/" + std::string(name_of(level));
        benchmark::RegisterBenchmark(name.c_str(), multiply, type, wide, n, level)->UseRealTime();
      }
    }
    if (!format_of(type).is_quantized()) continue;  // unquantized formats are not packed
    const std::string name = "pack/" + name_of_shape(type, wide);
    benchmark::RegisterBenchmark(name.c_str(), pack, type, wide)->UseRealTime();
  }
}

/// Quantizes eight rows of x for one sweep.
void quantize_rows(benchmark::State& state, ActivationBlock block, std::size_t cols) {
  const std::vector<float> x = random_floats(8 * cols, 3);
  std::vector<std::uint8_t> out(ActivationBlock::count(cols) * block.bytes());
  for ([[maybe_unused]] auto _ : state) {
    for (int r = 0; r < 8; ++r) {
      quantize_row(std::span(x).subspan(static_cast<std::size_t>(r) * cols, cols), block, r, out.data());
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * x.size()));
}

void register_activations() {
  using enum ActivationBlock::Lines;
  constexpr struct {
    const char* name;
    ActivationBlock block;
  } forms[] = {{"integers", {.rows = 8, .corrections = 2, .factor = -8}},           // Q4_0
               {"floats", {.rows = 8, .corrections = 2, .factor = 0}},              // Q4_K
               {"four_corrections", {.rows = 8, .corrections = 4, .factor = -32}},  // Q6_K
               {"separate_halves", {.rows = 8, .corrections = 0, .factor = 0, .lines = separate_halves}}};
  for (const auto& [name, block] : forms) {
    for (const std::size_t cols : {2048, 5632}) {
      const std::string whole = "quantize_row/" + std::string(name) + "/8x" + std::to_string(cols);
      benchmark::RegisterBenchmark(whole.c_str(), quantize_rows, block, cols);
    }
  }
}

/// Converts numbers to the format of a KV cache.
template <class T>
std::vector<T> cached(const std::vector<float>& numbers) {
  if constexpr (std::is_same_v<T, float>) {
    return numbers;
  } else if constexpr (has_scales<T>) {  // the bytes are valid numbers and scales
    return std::vector<T>(slot_bytes<T>(numbers.size() / q8_dims, q8_dims), T{0x3D});
  } else {
    std::vector<T> rounded(numbers.size());
    round_to_f16(numbers, rounded);
    return rounded;
  }
}

/// Computes attention for several queries of one head over several slots.
template <class T>
void attend_one_head(benchmark::State& state) {
  constexpr std::size_t width = 64;
  const auto count = static_cast<std::size_t>(state.range(0)),
             slots = static_cast<std::size_t>(state.range(1));
  const std::vector<float> q = random_floats(count * width, 4);
  const std::vector<T> kept = cached<T>(random_floats((slots / slot_block + 1) * 2 * slot_block * width, 5));
  std::vector<float> scratch(attention_scratch(slots, width)), out(count * width);
  std::vector<Query> queries;
  for (std::size_t i = 0; i < count; ++i) queries.push_back({&q[i * width], slots, {}, &out[i * width]});
  using Head = CachedHead<const T>;
  const auto table = test::block_table(std::as_bytes(std::span(kept)), Head::block_bytes(width));
  for ([[maybe_unused]] auto _ : state) {
    attend(queries, Head{table.data(), 0, width}, {0.125f}, scratch, ReadFrom::caches);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(attend_one_head<float>)->ArgsProduct({{1, 2, 4, 8}, {16, 128, 512, 2048}});
BENCHMARK(attend_one_head<F16>)->ArgsProduct({{1, 2, 4, 8}, {16, 128, 512, 2048}});
BENCHMARK(attend_one_head<Q8>)->ArgsProduct({{1, 2, 4, 8}, {16, 128, 512, 2048}});

/// Same for latent attention, where the values are a prefix of the keys.
void attend_latent_head(benchmark::State& state) {
  constexpr std::size_t width = 576, value_width = 512;
  const auto count = static_cast<std::size_t>(state.range(0)),
             slots = static_cast<std::size_t>(state.range(1));
  const std::vector<float> q = random_floats(count * width, 4);
  const std::vector<F16> kept = cached<F16>(random_floats((slots / slot_block + 1) * slot_block * width, 5));
  std::vector<float> scratch(attention_scratch(slots, width)), out(count * width);
  std::vector<Query> queries;
  for (std::size_t i = 0; i < count; ++i) queries.push_back({&q[i * width], slots, {}, &out[i * width]});
  const auto table = test::block_table(std::as_bytes(std::span(kept)), slot_bytes<F16>(slot_block, width));
  const CachedValues<const F16> latent{{table.data(), 0, width, std::numeric_limits<std::size_t>::max()}};
  for ([[maybe_unused]] auto _ : state) {
    attend(queries, latent, value_width, {0.05f}, scratch, ReadFrom::caches);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(attend_latent_head)->ArgsProduct({{1, 8}, {512, 2048}});

/// Registers compute(), which does not modify its input.
template <class Compute>
void register_vector(const std::string& name, std::size_t numbers, Compute compute) {
  const auto run = [compute = std::move(compute), numbers](benchmark::State& state) mutable {
    for ([[maybe_unused]] auto _ : state) {
      compute();
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * numbers));
  };
  benchmark::RegisterBenchmark((name + "/" + std::to_string(numbers)).c_str(), run);
}

/// Registers compute(x), which overwrites x. Each run starts from the same numbers because results would soon
/// become zeros or denormals. The time includes copying them, which copy/N measures separately.
template <class T, class Compute>
void register_in_place(const std::string& name, const std::vector<T>& from, const Compute& compute) {
  register_vector(name, from.size(), [=, x = from]() mutable {
    std::ranges::copy(from, x.begin());
    compute(std::span(x));
  });
}

void register_vectors() {
  constexpr std::size_t width = 2048, hidden = 5632, vocabulary = 32000, head = 64;
  const std::vector<float> x = random_floats(width, 7), weight = random_floats(width, 8),
                           bias = random_floats(width, 9), gate = random_floats(hidden, 10),
                           up = random_floats(hidden, 11), logits = random_floats(vocabulary, 12),
                           key = random_floats(head, 13);
  for (const std::vector<float>& numbers : {key, x, gate, logits}) {
    register_in_place("copy", numbers, [](std::span<float>) {});
  }
  register_vector("rms_norm", width, [=, out = x]() mutable { rms_norm(x, weight, 1e-5f, out); });
  register_vector("layer_norm", width, [=, out = x]() mutable { layer_norm(x, weight, bias, 1e-5f, out); });
  register_in_place("add", x, [=](std::span<float> y) { add(y, bias); });
  register_in_place("swiglu", gate, [=](std::span<float> z) { swiglu(z, up); });
  register_in_place("gelu", gate, [](std::span<float> z) { gelu(z); });
  register_in_place("gelu_tanh", gate, [](std::span<float> z) { gelu_tanh(z); });
  register_vector("dot", head, [=] { benchmark::DoNotOptimize(dot(key, std::span(x).first(head))); });
  register_vector("dot", width, [=] { benchmark::DoNotOptimize(dot(x, weight)); });
  register_vector("round_to_f16", head,
                  [=, out = std::vector<F16>(head)]() mutable { round_to_f16(key, out); });

  // Angles with varied cosines and sines.
  std::vector<float> cosines(head / 2), sines(head / 2);
  for (std::size_t i = 0; i < head / 2; ++i) {
    cosines[i] = std::cos(static_cast<float>(i));
    sines[i] = std::sin(static_cast<float>(i));
  }
  for (const bool interleaved : {false, true}) {
    register_in_place(interleaved ? "rope/interleaved" : "rope/halves", key,
                      [=](std::span<float> k) { rope(k, cosines, sines, interleaved); });
  }

  const std::vector<double> weights(logits.begin(), logits.end());
  const double max = std::ranges::max(weights);
  register_vector("largest", vocabulary, [=] { benchmark::DoNotOptimize(largest(logits)); });
  register_vector("next_above", vocabulary, [=] {  // scans all logits
    benchmark::DoNotOptimize(next_above(logits, 0, static_cast<float>(max)));
  });
  register_in_place("softmax", logits, [](std::span<float> p) { softmax(p); });
  register_in_place("exp_differences", weights, [=](std::span<double> p) { exp_differences(p, max, 1.25); });
  register_vector("log_sum_exp", vocabulary, [=] { benchmark::DoNotOptimize(log_sum_exp(logits)); });
}

}  // namespace
}  // namespace spectr

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  spectr::register_matrices();
  spectr::register_activations();
  spectr::register_vectors();
  benchmark::RunSpecifiedBenchmarks();
}
