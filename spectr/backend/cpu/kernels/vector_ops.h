#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "spectr/gguf/f16.h"

namespace spectr {

/// Vector kernels of the transformer, dispatched at run time to the best instruction set of the machine.
/// Tests compare each with a plain loop (tests/support/scalar_ops.h). Error bounds are relative to the
/// result, or to a stated quantity; a bound below the smallest normal float means an error of at most the
/// latter.

/// out[j] = x[j] / sqrt(mean(x²) + epsilon) · weight[j], within 1e-6, bitwise equal on all instruction sets.
/// All spans must have the same length; out may alias x.
void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon, std::span<float> out);

/// out[j] = (x[j] − mean) / sqrt(variance + epsilon) · weight[j] + bias[j], within 1e-6 of the terms' sum of
/// magnitudes, bitwise equal on all instruction sets. All spans: same length; out may alias x.
void layer_norm(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                float epsilon, std::span<float> out);

/// x[j] += y[j].
void add(std::span<float> x, std::span<const float> y);

/// gate[j] = silu(gate[j]) · up[j], silu(z) = z / (1 + exp(−z)), within 1e-6 and exp(−88) |gate[j] up[j]|.
void swiglu(std::span<float> gate, std::span<const float> up);

/// gate[j] = g σ(1.702 g) (u + 1) with g = min(gate[j], clamp) and u = up[j] between −clamp and clamp, within
/// 2e-6 and exp(−88) |g (u + 1)|.
void clamped_swiglu(std::span<float> gate, std::span<const float> up, float clamp);

/// Returns σ(x) = 1 / (1 + exp(−x)).
inline float sigmoid(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

/// x[j] *= σ(gate[j]), within 1e-6 and exp(−88) |x[j]|.
void multiply_by_sigmoid(std::span<float> x, std::span<const float> gate);

/// x[j] = gelu(x[j]), the tanh form: ½ z (1 + tanh u), u = √(2/π) (z + 0.044715 z³), within 1e-6 for z ≥ 0
/// and 1e-6 (1 + 2 |u|) for others, and exp(−88) |z|.
void gelu_tanh(std::span<float> x);

/// x[j] = z Φ(z), z = x[j] and Φ the normal distribution's, within 4e-7 |z|.
void gelu(std::span<float> x);

/// x[j] = cap · tanh(x[j] / cap), within 1e-6 of the result. Requires: cap > 0. ±∞ give ±cap, NaN stays NaN.
void soft_cap(std::span<float> x, float cap);

/// Returns Σ x[j] y[j], within 2⁻²⁴ (8 + n) Σ |x[j] y[j]| for n numbers.
float dot(std::span<const float> x, std::span<const float> y);

/// x[j] ← exp(x[j] − max x) / Σ exp(…), within 3e-6 (1 + max x − x[j]) for up to 2¹⁸ numbers. −∞ gives 0. All
/// results are NaN if an entry is NaN or +∞, or if none is finite.
void softmax(std::span<float> x);

/// out[j] = round_to_f16(x[j]). Both spans must have the same length.
void round_to_f16(std::span<const float> x, std::span<F16> out);

/// Applies RoPE to a head's vector: rotates pairs (x[2i], x[2i+1]) if interleaved, else (x[i], x[i + n/2]),
/// by angles with the given cosines and sines (n/2 each; n = 2 · cosines.size() ≤ x.size(); the rest is
/// unchanged). Within 2e-7 of the sum of the magnitudes of both products.
void rope(std::span<float> x, std::span<const float> cosines, std::span<const float> sines, bool interleaved);

}  // namespace spectr
