#include "tests/support/scalar_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/gguf/dequantize.h"

namespace spectr::scalar {
namespace {

double sum_of_products(std::span<const float> x, std::span<const float> y) {
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += double{x[j]} * double{y[j]};
  return sum;
}

}  // namespace

void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon, std::span<float> out) {
  const double mean_square = sum_of_products(x, x) / static_cast<double>(x.size());
  const double factor = 1 / std::sqrt(mean_square + epsilon);
  for (std::size_t j = 0; j < x.size(); ++j) out[j] = static_cast<float>(x[j] * factor * weight[j]);
}

void layer_norm(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                float epsilon, std::span<float> out) {
  const double n = static_cast<double>(x.size());
  double mean = 0;
  for (const float v : x) mean += v / n;
  double variance = 0;
  for (const float v : x) variance += (v - mean) * (v - mean) / n;
  const double factor = 1 / std::sqrt(variance + epsilon);
  for (std::size_t j = 0; j < x.size(); ++j) {
    out[j] = static_cast<float>((x[j] - mean) * factor * weight[j] + bias[j]);
  }
}

void add(std::span<float> x, std::span<const float> y) {
  for (std::size_t j = 0; j < x.size(); ++j) x[j] += y[j];
}

void swiglu(std::span<float> gate, std::span<const float> up) {
  for (std::size_t j = 0; j < gate.size(); ++j) {
    const double z = gate[j];
    gate[j] = static_cast<float>(z / (1 + std::exp(-z)) * up[j]);
  }
}

void clamped_swiglu(std::span<float> gate, std::span<const float> up, float clamp) {
  for (std::size_t j = 0; j < gate.size(); ++j) {
    const double g = std::min(gate[j], clamp), u = std::clamp(up[j], -clamp, clamp);
    gate[j] = static_cast<float>(g / (1 + std::exp(-1.702 * g)) * (u + 1));
  }
}

void multiply_by_sigmoid(std::span<float> x, std::span<const float> gate) {
  for (std::size_t j = 0; j < x.size(); ++j)
    x[j] = static_cast<float>(x[j] / (1 + std::exp(-double{gate[j]})));
}

void gelu(std::span<float> x) {
  for (float& z : x) z = static_cast<float>(z / 2.0 * std::erfc(-z / std::numbers::sqrt2));
}

void gelu_tanh(std::span<float> x) {
  for (float& v : x) {
    const double z = v, u = std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z);
    v = static_cast<float>(z /
                           (1 + std::exp(-2 * u)));  // = ½ z (1 + tanh u), which loses precision for u < 0
  }
}

float dot(std::span<const float> x, std::span<const float> y) {
  return static_cast<float>(sum_of_products(x, y));
}

float largest(std::span<const float> x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float largest = -infinity;
  for (const float v : x) {
    if (!(v < infinity)) return std::numeric_limits<float>::quiet_NaN();
    largest = std::max(largest, v);
  }
  return largest;
}

std::size_t next_above(std::span<const float> x, std::size_t from, float bar) {
  while (from < x.size() && !(x[from] > bar)) ++from;
  return from;
}

void softmax(std::span<float> x) {
  const double largest = std::ranges::max(x);
  double sum = 0;
  for (const float v : x) sum += std::exp(v - largest);
  for (float& v : x) v = static_cast<float>(std::exp(v - largest) / sum);
}

void rope(std::span<float> x, std::span<const float> cosines, std::span<const float> sines,
          bool interleaved) {
  const std::size_t half = cosines.size();
  for (std::size_t i = 0; i < half; ++i) {
    float& a = interleaved ? x[2 * i] : x[i];
    float& b = interleaved ? x[2 * i + 1] : x[i + half];
    const double u = a;
    const double v = b;
    a = static_cast<float>(u * cosines[i] - v * sines[i]);
    b = static_cast<float>(u * sines[i] + v * cosines[i]);
  }
}

void exp_differences(std::span<double> x, double largest, double scale) {
  for (double& v : x) v = std::exp((v - largest) * scale);
}

double log_sum_exp(std::span<const float> x) {
  const double largest = *std::ranges::max_element(x);
  double sum = 0;
  for (float v : x) sum += std::exp(v - largest);
  return largest + std::log(sum);
}

void soft_cap(std::span<float> x, float cap) {
  for (float& v : x) v = static_cast<float>(double{cap} * std::tanh(double{v} / double{cap}));
}

void attend(std::span<const float> q, const CachedHead<const float>& head, std::size_t prefix,
            std::span<const int> extra, ScoreRule rule, std::span<float> scores, std::span<float> out,
            std::size_t begin) {
  const std::size_t count = prefix + extra.size();
  const auto slot = [&](std::size_t s) {
    return s < prefix ? s : static_cast<std::size_t>(extra[s - prefix]);
  };
  for (std::size_t s = begin; s < count; ++s) {
    double sum = 0;
    for (std::size_t j = 0; j < head.dim; ++j) sum += double{q[j]} * head.key(slot(s), j);
    scores[s] = rule.scale * static_cast<float>(sum);
  }
  const std::span<float> seen = scores.subspan(begin, count - begin);
  if (rule.cap > 0) soft_cap(seen, rule.cap);
  softmax(seen);
  for (std::size_t j = 0; j < head.dim; ++j) {
    double sum = 0;
    for (std::size_t s = begin; s < count; ++s) sum += double{scores[s]} * head.value(slot(s))[j];
    out[j] = static_cast<float>(sum);
  }
}

void matmul(TensorType type, std::span<const std::byte> w, Span2d<const float> x, Span2d<float> y) {
  SPECTR_CHECK(x.rows() == y.rows());
  const std::size_t row_bytes = x.cols() / format_of(type).elements * format_of(type).bytes;
  SPECTR_CHECK(w.size() == y.cols() * row_bytes);
  std::vector<float> row(x.cols());
  for (std::size_t i = 0; i < y.cols(); ++i) {
    dequantize(type, w.subspan(i * row_bytes, row_bytes), row);
    for (std::size_t r = 0; r < x.rows(); ++r) y[r][i] = dot(row, x[r]);
  }
}

}  // namespace spectr::scalar
