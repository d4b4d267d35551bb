#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spectr/gguf/tensor_type.h"
#include "spectr/nn/model_spec.h"

/// The computations of device kernels as plain loops with the same roundings. Every kernel must return the
/// bits of its twin, whatever other rows are in its batch.
namespace spectr::twin {

/// The rounding of multiply-adds in e^x and attention: once (fused), or separately, for devices that cannot
/// guarantee FMA. All other multiply-adds are rounded twice on every device.
enum class Rounding { fused, separate };

/// Returns a · b + c.
float multiply_add(float a, float b, float c, Rounding rounding);

/// Returns e^x for x ≤ 0: a polynomial, or 0 below −87. The relative error is below 3 · 10⁻⁷.
float exp_of_negative(float x, Rounding rounding = Rounding::fused);
/// Returns 1 / (1 + e^−x).
float sigmoid(float x, Rounding rounding = Rounding::fused);
/// Returns x / (1 + e^−x).
float silu(float x, Rounding rounding = Rounding::fused);
/// Returns x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), computed as x σ(2 …).
float gelu(float x, Rounding rounding = Rounding::fused);
/// Returns log(1 + x) for 0 ≤ x ≤ 1 by a polynomial for 2 artanh(x / (2 + x)); relative error below 3 · 10⁻⁷.
float log_of_one_and(float x);
/// Returns log(1 + e^x).
float softplus(float x, Rounding rounding = Rounding::fused);
/// Returns cap · tanh(x / cap).
float soft_cap(float x, float cap, Rounding rounding = Rounding::fused);
/// Returns act(gate) · up, see Activation.
float activate(Activation activation, float clamp, float gate, float up, Rounding rounding = Rounding::fused);

/// Rows quantized for products: x[r][j] ≈ a[r][j / 32] · q[r][j], with the same numbers as quantize_row
/// (spectr/backend/cpu/kernels/activations.h). Columns are padded with zeros to whole blocks of 64.
struct QuantizedRows {
  std::size_t n, cols;         ///< cols is a multiple of 64
  std::vector<std::int8_t> q;  ///< [n, cols]
  std::vector<float> a;        ///< [n, cols / 32]

  int sum(std::size_t r, std::size_t half) const;  ///< Σ q of a half's 32 columns
};

/// Quantizes x. Requires: x is [n, cols], cols a multiple of 32.
QuantizedRows quantize(std::span<const float> x, std::size_t n);

/// Quantized rows in the order that kernels read (spectr/backend/cuda/kernels/quantize.cuh).
struct ArrangedRows {
  std::vector<std::uint32_t> codes;  ///< [block][tile of 8 rows][lane][4]
  std::vector<float> scales, sums;   ///< [block][tile][t][half][2]
};
/// Arranges rows. The missing rows of the last tile are filled with `fill`.
ArrangedRows arrange(const QuantizedRows& rows, std::size_t tiles, std::uint32_t fill = 0);

/// Inverts arrange().
QuantizedRows take_apart(std::span<const std::uint32_t> codes, std::span<const float> scales, std::size_t n,
                         std::size_t tiles);

/// Computes y = W x, [n, rows], in 32 segments of blocks of 64 columns, as in product.cuh. `file` has the
/// [rows, cols] weights as stored. Requires: a quantized type, with no scale for more than 32 columns.
std::vector<float> product(TensorType type, std::span<const std::byte> file, std::size_t rows,
                           const QuantizedRows& x);

/// Packed weights (weight_panels.h) for the same product. Requires: has_device_layout(type).
struct PackedWeights {
  const std::uint8_t* codes;
  const std::uint32_t* scales;
  const std::uint32_t* factors;
};
std::vector<float> product(TensorType type, const PackedWeights& weights, std::size_t rows, std::size_t cols,
                           const QuantizedRows& x);

/// Computes y = W x for a float format and x [n, cols] in floats: t of a block is Σ w x, ascending.
std::vector<float> float_product(TensorType type, std::span<const std::byte> file, std::size_t rows,
                                 std::span<const float> x, std::size_t n);

/// Returns x / √(mean x² + ε) · weight; if weight is empty, it is omitted.
std::vector<float> rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon);
/// Returns (x − mean x) / √(variance + ε) · weight + bias; both are optional (empty).
std::vector<float> layer_norm(std::span<const float> x, std::span<const float> weight,
                              std::span<const float> bias, float epsilon);

/// Returns the sum as a binary tree, neighbours first. Requires: the count is a power of two.
float sum_as_tree(std::vector<float> numbers);

/// The result of a chunk: the largest score, Σ weights, Σ weights · values.
struct AttendedChunk {
  float most, sum;
  std::vector<float> values;  ///< one per value dimension
};
/// Attends with one scaled query. Requires: keys and values of 1 to 64 slots.
AttendedChunk attend_to_chunk(std::span<const float> q, std::span<const float> keys,
                              std::span<const float> values, float cap, Rounding rounding = Rounding::fused);
/// Merges a head's chunks; a sink is an additional score without a value.
std::vector<float> merge(std::span<const AttendedChunk> chunks, std::optional<float> sink = std::nullopt,
                         Rounding rounding = Rounding::fused);

/// Keys and values of the slots to which a row attends, in its order, in f16: [attended, dim].
struct AttendedSlots {
  std::size_t dim;
  std::vector<std::uint16_t> keys, values;
};

/// Computes attention of one scaled query over chunks of 64 slots, as in attention.cuh.
std::vector<float> attend(std::span<const float> q, const AttendedSlots& slots);

}  // namespace spectr::twin
