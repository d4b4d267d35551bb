#pragma once

#include <cstddef>
#include <span>

#include "spectr/backend/cpu/kernels/attention.h"
#include "spectr/base/span2d.h"
#include "spectr/gguf/tensor_type.h"

/// Scalar reference implementations of vector_math.h, vector_ops.h, attention.h and matmul.h for tests. Sums
/// and functions are computed in double and rounded to float at the end.
namespace spectr::scalar {

void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon, std::span<float> out);
void layer_norm(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                float epsilon, std::span<float> out);
void add(std::span<float> x, std::span<const float> y);
void swiglu(std::span<float> gate, std::span<const float> up);
void clamped_swiglu(std::span<float> gate, std::span<const float> up, float clamp);
void multiply_by_sigmoid(std::span<float> x, std::span<const float> gate);
void gelu(std::span<float> x);
void gelu_tanh(std::span<float> x);
float dot(std::span<const float> x, std::span<const float> y);
float largest(std::span<const float> x);
std::size_t next_above(std::span<const float> x, std::size_t from, float bar);
void softmax(std::span<float> x);
void exp_differences(std::span<double> x, double largest, double scale);
double log_sum_exp(std::span<const float> x);
void rope(std::span<float> x, std::span<const float> cosines, std::span<const float> sines, bool interleaved);
void soft_cap(std::span<float> x, float cap);
void attend(std::span<const float> q, const CachedHead<const float>& head, std::size_t prefix,
            std::span<const int> extra, ScoreRule rule, std::span<float> scores, std::span<float> out,
            std::size_t begin = 0);

/// Computes y[r][i] = Σ_j W[i][j] x[r][j] with weights as the format defines them and unrounded x.
/// x: [n, cols], y: [n, rows]; W has the bytes of a file.
void matmul(TensorType type, std::span<const std::byte> w, Span2d<const float> x, Span2d<float> y);

}  // namespace spectr::scalar
