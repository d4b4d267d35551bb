#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spectr/gguf/tensor_type.h"
#include "spectr/nn/model_spec.h"

/// What the kernels of devices compute, as plain loops with the same roundings: every kernel must give the
/// bits of its twin, in whatever company a row is.
namespace spectr::twin {

/// How e^x and attention round a product and the sum that it is added to: once, or each by itself, as devices
/// do that cannot promise more. Everything else has two roundings on every device.
enum class Rounding { fused, separate };

/// a · b + c.
float multiply_add(float a, float b, float c, Rounding rounding);

/// e^x for x ≤ 0: a polynomial, 0 below −87. Relative error below 3 · 10⁻⁷.
float exp_of_negative(float x, Rounding rounding = Rounding::fused);
/// 1 / (1 + e^−x).
float sigmoid(float x, Rounding rounding = Rounding::fused);
/// x / (1 + e^−x).
float silu(float x, Rounding rounding = Rounding::fused);
/// x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), as x σ(2 …).
float gelu(float x, Rounding rounding = Rounding::fused);
/// log(1 + x) for 0 ≤ x ≤ 1: 2 artanh(x / (2 + x)), a polynomial. Relative error below 3 · 10⁻⁷.
float log_of_one_and(float x);
/// log(1 + e^x).
float softplus(float x, Rounding rounding = Rounding::fused);
/// cap · tanh(x / cap).
float soft_cap(float x, float cap, Rounding rounding = Rounding::fused);
/// act(gate) · up, see Activation.
float activate(Activation activation, float clamp, float gate, float up, Rounding rounding = Rounding::fused);

/// Rows quantized for products: x[r][j] ≈ a[r][j / 32] · q[r][j], with the numbers of quantize_row
/// (spectr/backend/cpu/kernels/activations.h). Columns are filled up to whole blocks of 64 with zeros.
struct QuantizedRows {
  std::size_t n, cols;         ///< cols a multiple of 64
  std::vector<std::int8_t> q;  ///< [n, cols]
  std::vector<float> a;        ///< [n, cols / 32]

  int sum(std::size_t r, std::size_t half) const;  ///< Σ q of its 32 columns
};

/// Requires: x is [n, cols], cols a multiple of 32.
QuantizedRows quantize(std::span<const float> x, std::size_t n);

/// The same in the order that kernels read (spectr/backend/cuda/kernels/quantize.cuh).
struct ArrangedRows {
  std::vector<std::uint32_t> codes;  ///< [block][tile of 8 rows][lane][4]
  std::vector<float> scales, sums;   ///< [block][tile][t][half][2]
};
/// Rows that are missing in the last tile have `fill` everywhere.
ArrangedRows arrange(const QuantizedRows& rows, std::size_t tiles, std::uint32_t fill = 0);

/// What arrange() has made of quantized rows.
QuantizedRows take_apart(std::span<const std::uint32_t> codes, std::span<const float> scales, std::size_t n,
                         std::size_t tiles);

/// y = W x: y is [n, rows]; 32 segments of blocks of 64 columns, as product.cuh says. `file`: [rows, cols]
/// weights as the file stores them. Requires: the type is quantized, with no scale for more than 32 columns.
std::vector<float> product(TensorType type, std::span<const std::byte> file, std::size_t rows,
                           const QuantizedRows& x);

/// The same with packed weights (weight_panels.h). Requires: has_device_layout(type).
struct PackedWeights {
  const std::uint8_t* codes;
  const std::uint32_t* scales;
  const std::uint32_t* factors;
};
std::vector<float> product(TensorType type, const PackedWeights& weights, std::size_t rows, std::size_t cols,
                           const QuantizedRows& x);

/// The same with weights of a float format and x in floats, [n, cols]: t of a block is Σ w x, ascending.
std::vector<float> float_product(TensorType type, std::span<const std::byte> file, std::size_t rows,
                                 std::span<const float> x, std::size_t n);

/// x / √(mean x² + ε) · weight; without a weight where that is empty.
std::vector<float> rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon);
/// (x − mean x) / √(variance + ε) · weight + bias; either may be empty.
std::vector<float> layer_norm(std::span<const float> x, std::span<const float> weight,
                              std::span<const float> bias, float epsilon);

/// The sum of an even number of numbers: neighbours first. Requires: a power of two of them.
float sum_as_tree(std::vector<float> numbers);

/// What a chunk gives: the largest score, Σ weights, Σ weights · values.
struct AttendedChunk {
  float most, sum;
  std::vector<float> values;  ///< as many as a value has
};
/// Of one scaled query. Requires: keys and values are those of 1 to 64 slots.
AttendedChunk attend_to_chunk(std::span<const float> q, std::span<const float> keys,
                              std::span<const float> values, float cap, Rounding rounding = Rounding::fused);
/// A head from its chunks; with a sink, a score that has no value.
std::vector<float> merge(std::span<const AttendedChunk> chunks, std::optional<float> sink = std::nullopt,
                         Rounding rounding = Rounding::fused);

/// Keys and values of the slots that a row attends to, in its order, as halves: [attended, dim].
struct AttendedSlots {
  std::size_t dim;
  std::vector<std::uint16_t> keys, values;
};

/// Attention of one scaled query over chunks of 64 slots, as attention.cuh says.
std::vector<float> attend(std::span<const float> q, const AttendedSlots& slots);

}  // namespace spectr::twin
