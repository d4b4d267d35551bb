#include "tests/twins/twins.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "spectr/base/numeric.h"

namespace spectr::twin {
namespace {

constexpr float large = 12582912.0f;  // 1.5 · 2²³: adding it rounds to an integer
constexpr std::size_t half_columns = 32;

std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

}  // namespace

float multiply_add(float a, float b, float c, Rounding rounding) {
  return rounding == Rounding::fused ? std::fma(a, b, c) : a * b + c;
}

float exp_of_negative(float x, Rounding rounding) {
  const float shifted = multiply_add(x, 1.44269504f, large, rounding), n = shifted - large;
  const float r = multiply_add(n, 2.12194440e-4f, multiply_add(n, -0.693359375f, x, rounding), rounding);
  float p = 1.9875691500e-4f;
  for (const float next :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) {
    p = multiply_add(p, r, next, rounding);
  }
  const float y = multiply_add(p, r * r, r, rounding) + 1.0f;
  if (!(x >= -87.0f)) return x < -87.0f ? 0.0f : x;
  return std::bit_cast<float>(bits_of(y) + (bits_of(shifted) << 23));
}

float silu(float x, Rounding rounding) {
  const float e = exp_of_negative(x < 0 ? x : -x, rounding);
  return x * (x < 0 ? e : 1.0f) / (1.0f + e);
}

float sigmoid(float x, Rounding rounding) {
  const float e = exp_of_negative(x < 0 ? x : -x, rounding);
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

float gelu(float x, Rounding rounding) {
  const float u = 1.5957691216f * (x + 0.044715f * (x * x * x));  // twice the argument of tanh
  const float e = exp_of_negative(u < 0 ? u : -u, rounding);
  return x * (u < 0 ? e : 1.0f) / (1.0f + e);
}

float log_of_one_and(float x) {
  const float s = x / (2.0f + x), z = s * s;
  float p = 1.0f / 15.0f;
  for (const float next : {1.0f / 13.0f, 1.0f / 11.0f, 1.0f / 9.0f, 1.0f / 7.0f, 1.0f / 5.0f, 1.0f / 3.0f})
    p = p * z + next;
  const float twice = s + s;
  return p * z * twice + twice;
}

float softplus(float x, Rounding rounding) {
  const float e = exp_of_negative(x < 0 ? x : -x, rounding);
  return (x < 0 ? 0.0f : x) + log_of_one_and(e);
}

float soft_cap(float x, float cap, Rounding rounding) {
  const float y = x / cap, e = exp_of_negative(-2.0f * std::fabs(y), rounding);
  const float size = cap * ((1.0f - e) / (1.0f + e));
  return y < 0 ? -size : size;
}

float activate(Activation activation, float clamp, float gate, float up, Rounding rounding) {
  switch (activation) {
    case Activation::silu:
      return silu(gate, rounding) * up;
    case Activation::gelu_tanh:
      return gelu(gate, rounding) * up;
    case Activation::gelu:
      break;  // not supported by devices
    case Activation::relu:
      return (gate < 0 ? 0.0f : gate) * up;
    case Activation::clamped_silu: {
      const float g = gate > clamp ? clamp : gate, u = up > clamp ? clamp : up < -clamp ? -clamp : up;
      return g * sigmoid(1.702f * g, rounding) * (u + 1.0f);
    }
  }
  return 0;
}

int QuantizedRows::sum(std::size_t r, std::size_t half) const {
  int sum = 0;
  for (std::size_t j = 0; j < half_columns; ++j) sum += q[r * cols + half * half_columns + j];
  return sum;
}

QuantizedRows quantize(std::span<const float> x, std::size_t n) {
  const std::size_t width = x.size() / n, cols = round_up(width, 64);
  QuantizedRows rows{.n = n,
                     .cols = cols,
                     .q = std::vector<std::int8_t>(n * cols),
                     .a = std::vector<float>(n * cols / half_columns)};
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t half = 0; half < width / half_columns; ++half) {
      const float* const v = x.data() + r * width + half * half_columns;
      std::uint32_t top = 0;
      for (std::size_t j = 0; j < half_columns; ++j) top = std::max(top, bits_of(v[j]) & 0x7fffffffu);
      const auto max = std::bit_cast<float>(top);
      const bool nothing = max < 1e-30f;
      const float reciprocal = nothing ? 0.0f : 127.0f / max;
      rows.a[r * cols / half_columns + half] = nothing ? 0.0f : max / 127.0f;
      for (std::size_t j = 0; j < half_columns; ++j) {
        rows.q[r * cols + half * half_columns + j] =
            static_cast<std::int8_t>(bits_of(v[j] * reciprocal + large));
      }
    }
  }
  return rows;
}

ArrangedRows arrange(const QuantizedRows& rows, std::size_t tiles, std::uint32_t fill) {
  const std::size_t blocks = rows.cols / 64;
  ArrangedRows to{.codes = std::vector<std::uint32_t>(blocks * tiles * 128, fill),
                  .scales = std::vector<float>(blocks * tiles * 16, std::bit_cast<float>(fill)),
                  .sums = std::vector<float>(blocks * tiles * 16, std::bit_cast<float>(fill))};
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t r = 0; r < rows.n; ++r) {
      const std::size_t tile = b * tiles + r / 8, g = r % 8;
      for (std::size_t word = 0; word < 16; ++word) {
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 4; ++j) {
          const auto byte = static_cast<std::uint8_t>(rows.q[r * rows.cols + 64 * b + 4 * word + j]);
          bits |= std::uint32_t{byte} << 8 * j;
        }
        to.codes[tile * 128 + (4 * g + word % 4) * 4 + word / 4] = bits;
      }
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t at = tile * 16 + g / 2 * 4 + half * 2 + g % 2;
        to.scales[at] = rows.a[r * rows.cols / half_columns + 2 * b + half];
        to.sums[at] = static_cast<float>(rows.sum(r, 2 * b + half));
      }
    }
  }
  return to;
}

QuantizedRows take_apart(std::span<const std::uint32_t> codes, std::span<const float> scales, std::size_t n,
                         std::size_t tiles) {
  const std::size_t blocks = scales.size() / 16 / tiles, cols = 64 * blocks;
  QuantizedRows rows{.n = n,
                     .cols = cols,
                     .q = std::vector<std::int8_t>(n * cols),
                     .a = std::vector<float>(n * cols / half_columns)};
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t r = 0; r < n; ++r) {
      const std::size_t tile = b * tiles + r / 8, g = r % 8;
      for (std::size_t j = 0; j < 64; ++j) {
        const std::uint32_t word = codes[tile * 128 + (4 * g + j / 4 % 4) * 4 + j / 16];
        rows.q[r * cols + 64 * b + j] = static_cast<std::int8_t>(word >> 8 * (j % 4));
      }
      for (std::size_t half = 0; half < 2; ++half) {
        rows.a[r * cols / half_columns + 2 * b + half] = scales[tile * 16 + g / 2 * 4 + half * 2 + g % 2];
      }
    }
  }
  return rows;
}

namespace {

// Each of 512 threads has four of every 2048 columns.
constexpr std::size_t norm_threads = 512;

template <class Of>
float sum_of_columns(std::span<const float> x, Of of) {
  std::vector<float> sums(norm_threads);
  const auto number = [&](std::size_t i) { return i < x.size() ? of(x[i]) : 0.0f; };
  for (std::size_t i = 0; i < x.size(); i += 4) {
    const float low = number(i) + number(i + 1), high = number(i + 2) + number(i + 3);
    sums[i / 4 % norm_threads] += low + high;
  }
  return sum_as_tree(std::move(sums));
}

}  // namespace

std::vector<float> rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon) {
  const float mean = sum_of_columns(x, [](float v) { return v * v; }) * (1.0f / static_cast<float>(x.size()));
  const float factor = 1.0f / std::sqrt(mean + epsilon);
  std::vector<float> out(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) out[j] = x[j] * factor * (weight.empty() ? 1.0f : weight[j]);
  return out;
}

std::vector<float> layer_norm(std::span<const float> x, std::span<const float> weight,
                              std::span<const float> bias, float epsilon) {
  const float part = 1.0f / static_cast<float>(x.size());
  const float mean = sum_of_columns(x, [](float v) { return v; }) * part;
  const float variance = sum_of_columns(x, [mean](float v) { return (v - mean) * (v - mean); }) * part;
  const float factor = 1.0f / std::sqrt(variance + epsilon);
  std::vector<float> out(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    out[j] = (x[j] - mean) * factor * (weight.empty() ? 1.0f : weight[j]);
    if (!bias.empty()) out[j] += bias[j];
  }
  return out;
}

}  // namespace spectr::twin
