#include "spectr/backend/cpu/kernels/vector_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "tests/backend/expect_close.h"
#include "tests/support/every_target.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scalar_ops.h"
#include "tests/support/vectors.h"

namespace spectr {
namespace {

using test::at_every_length_and_offset;
using test::for_long_vectors;
using test::random_floats;
using test::Vectors;

/// Expects the result of `compute` to have the same bits at every target.
template <class Compute>
void expect_same_bits_at_every_target(const Compute& compute) {
  const std::vector<float> expected = compute();
  at_every_target([&] { EXPECT_EQ(compute(), expected); });
}

TEST(Dot, IsWithinTheRoundingOfAFloatSum) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      const Vectors x(n, offset, 1), y(n, offset, 2);
      double size = 0;
      for (std::size_t j = 0; j < n; ++j) size += std::abs(double{x.view[j]} * y.view[j]);
      // With SIMD, each term passes at most n / 16 + 8 additions of relative error 2⁻²⁴.
      EXPECT_LE(std::abs(dot(x.view, y.view) - scalar::dot(x.view, y.view)),
                0x1p-24 * (8 + static_cast<double>(n)) * size);
    });
  });
}

TEST(Dot, OfNothingIsZero) {
  EXPECT_EQ(dot({}, {}), 0.0f);
}

TEST(RmsNorm, AgreesWithItsTwin) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      const Vectors x(n, offset, 1), weight(n, offset, 2);
      std::vector<float> out(n), expected(n);
      rms_norm(x.view, weight.view, 1e-5f, out);
      scalar::rms_norm(x.view, weight.view, 1e-5f, expected);
      expect_close(out, expected, 1e-6);
    });
  });
}

// The squares of these numbers overflow.
TEST(Norms, KeepRowsOfHugeNumbers) {
  at_every_target([] {
    for (const float huge : {1e20f, 1e30f, 1e38f}) {
      const std::vector<float> x = {huge, -huge, 0.5f * huge}, weight = {1, 2, 3}, bias = {0, 1, 2};
      std::vector<float> out(3), expected(3);
      rms_norm(x, weight, 1e-5f, out);
      scalar::rms_norm(x, weight, 1e-5f, expected);
      expect_close(out, expected, 1e-6);
      layer_norm(x, weight, bias, 1e-5f, out);
      scalar::layer_norm(x, weight, bias, 1e-5f, expected);
      expect_close(out, expected, 1e-6);
    }
  });
}

TEST(Norms, HaveTheSameBitsAtEveryTarget) {
  at_every_length_and_offset([](std::size_t n, std::size_t offset) {
    const Vectors x(n, offset, 1), weight(n, offset, 2), bias(n, offset, 3);
    expect_same_bits_at_every_target([&] {
      std::vector<float> out(n);
      rms_norm(x.view, weight.view, 1e-5f, out);
      return out;
    });
    expect_same_bits_at_every_target([&] {
      std::vector<float> out(n);
      layer_norm(x.view, weight.view, bias.view, 1e-5f, out);
      return out;
    });
  });
}

TEST(RmsNorm, MayWriteOverItsInput) {
  Vectors x(100, 0, 1);
  const Vectors weight(100, 0, 2);
  std::vector<float> out(100);
  rms_norm(x.view, weight.view, 1e-5f, out);
  rms_norm(x.view, weight.view, 1e-5f, x.view);
  EXPECT_EQ(out, x.store);
}

TEST(LayerNorm, AgreesWithItsTwin) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      const Vectors x(n, offset, 1), weight(n, offset, 2), bias(n, offset, 3);
      std::vector<float> out(n), expected(n);
      layer_norm(x.view, weight.view, bias.view, 1e-5f, out);
      scalar::layer_norm(x.view, weight.view, bias.view, 1e-5f, expected);
      double mean = 0, variance = 0;
      for (const float v : x.view) mean += v / static_cast<double>(n);
      for (const float v : x.view) variance += (v - mean) * (v - mean) / static_cast<double>(n);
      std::vector<float> sizes(n);
      for (std::size_t j = 0; j < n; ++j) {
        const double centred = (std::abs(x.view[j]) + std::abs(mean)) / std::sqrt(variance + 1e-5);
        sizes[j] = static_cast<float>(centred * std::abs(weight.view[j]) + std::abs(bias.view[j]));
      }
      expect_close(out, expected, 1e-6, sizes);
    });
  });
}

TEST(Add, IsExact) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1), expected(n, offset, 1);
      const Vectors y(n, offset, 2);
      add(x.view, y.view);
      scalar::add(expected.view, y.view);
      EXPECT_EQ(x.store, expected.store);
    });
  });
}

TEST(SwiGlu, AgreesWithItsTwinForSmallAndHugeNumbers) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors gate(n, offset, 1), expected(n, offset, 1);
      const Vectors up(n, offset, 2);
      for (std::size_t j = 0; j < n; j += 3) gate.view[j] = expected.view[j] *= j % 2 == 0 ? 100.0f : 1e-3f;
      std::vector<float> sizes(n);
      for (std::size_t j = 0; j < n; ++j) sizes[j] = 1e-32f * std::abs(gate.view[j] * up.view[j]);
      swiglu(gate.view, up.view);
      scalar::swiglu(expected.view, up.view);
      for (std::size_t j = 0; j < n; ++j) sizes[j] += std::abs(expected.view[j]);
      expect_close(gate.view, expected.view, 1e-6, sizes);  // 1e-38 > exp(−88)
    });
  });
}

TEST(ClampedSwiGlu, AgreesWithItsTwinForSmallAndHugeNumbers) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors gate(n, offset, 1), expected(n, offset, 1);
      Vectors up(n, offset, 2);
      for (std::size_t j = 0; j < n; j += 3) {
        gate.view[j] = expected.view[j] *= j % 2 == 0 ? 100.0f : 1e-3f;
        up.view[j] *= 10.0f;
      }
      std::vector<float> sizes(n);
      for (std::size_t j = 0; j < n; ++j) sizes[j] = 1e-30f * std::abs(gate.view[j] * (up.view[j] + 1));
      clamped_swiglu(gate.view, up.view, 7.0f);
      scalar::clamped_swiglu(expected.view, up.view, 7.0f);
      // The sum u + 1 inherits the absolute rounding error of u.
      for (std::size_t j = 0; j < n; ++j) sizes[j] += std::abs(expected.view[j]) + 1e-1f;
      expect_close(gate.view, expected.view, 2e-6, sizes);
    });
  });
}

TEST(MultiplyBySigmoid, AgreesWithItsTwinForSmallAndHugeNumbers) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1), expected(n, offset, 1);
      Vectors gate(n, offset, 2);
      for (std::size_t j = 0; j < n; j += 3) gate.view[j] *= j % 2 == 0 ? 100.0f : 1e-3f;
      std::vector<float> sizes(n);
      for (std::size_t j = 0; j < n; ++j) sizes[j] = 1e-32f * std::abs(x.view[j]);
      multiply_by_sigmoid(x.view, gate.view);
      scalar::multiply_by_sigmoid(expected.view, gate.view);
      for (std::size_t j = 0; j < n; ++j) sizes[j] += std::abs(expected.view[j]);
      expect_close(x.view, expected.view, 1e-6, sizes);
    });
  });
}

TEST(GeluTanh, AgreesWithItsTwinForSmallAndHugeNumbers) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1), expected(n, offset, 1);
      for (std::size_t j = 0; j < n; j += 3) x.view[j] = expected.view[j] *= j % 2 == 0 ? 100.0f : 1e-3f;
      const std::vector<float> z(x.view.begin(), x.view.end());
      gelu_tanh(x.view);
      scalar::gelu_tanh(expected.view);
      std::vector<float> sizes(n);
      for (std::size_t j = 0; j < n; ++j) {
        const float u = 0.79788456f * (z[j] + 0.044715f * z[j] * z[j] * z[j]);
        sizes[j] = std::abs(expected.view[j]) * (1 + 2 * std::max(0.0f, -u)) + 1e-32f * std::abs(z[j]);
      }
      expect_close(x.view, expected.view, 1e-6, sizes);
    });
  });
}

TEST(Gelu, AgreesWithItsTwinForSmallAndHugeNumbers) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1), expected(n, offset, 1);
      for (std::size_t j = 0; j < n; ++j) x.view[j] = expected.view[j] *= j % 3 == 0 ? 100.0f : 3.0f;
      std::vector<float> sizes(n);
      for (std::size_t j = 0; j < n; ++j) sizes[j] = std::abs(x.view[j]);
      gelu(x.view);
      scalar::gelu(expected.view);
      expect_close(x.view, expected.view, 4e-7, sizes);
    });
  });
}

TEST(SoftCap, AgreesWithItsTwin) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      for (const float cap : {0.25f, 30.0f}) {
        Vectors x(n, offset, 1), expected(n, offset, 1);
        for (std::size_t j = 0; j < n; j += 3) x.view[j] = expected.view[j] *= j % 2 == 0 ? 100.0f : 1e-3f;
        soft_cap(x.view, cap);
        scalar::soft_cap(expected.view, cap);
        expect_close(x.view, expected.view, 1e-6);
      }
    });
  });
}

TEST(Softmax, AgreesWithItsTwinAndSumsToOne) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1), expected(n, offset, 1);
      for (std::size_t j = 0; j < n; j += 5) x.view[j] = expected.view[j] *= 20.0f;
      std::vector<float> sizes(n);
      const float max = std::ranges::max(x.view);
      for (std::size_t j = 0; j < n; ++j) sizes[j] = 1 + max - x.view[j];
      softmax(x.view);
      scalar::softmax(expected.view);
      for (std::size_t j = 0; j < n; ++j) sizes[j] *= expected.view[j];
      expect_close(x.view, expected.view, 1e-6, sizes);
      EXPECT_NEAR(std::accumulate(x.view.begin(), x.view.end(), 0.0), 1.0, 1e-5);
    });
  });
}

TEST(Softmax, AgreesWithItsTwinForLongVectorsWhereverTheyLie) {
  for_long_vectors([](const std::vector<float>& x) {
    std::vector<float> expected = x, sizes(x.size());
    scalar::softmax(expected);
    const float max = std::ranges::max(x);
    for (std::size_t j = 0; j < x.size(); ++j) sizes[j] = expected[j] * (1 + max - x[j]);
    at_every_target([&] {
      std::vector<float> found = x, moved(x.size() + 3);
      softmax(found);
      expect_close(found, expected, 3e-6, sizes);
      const auto elsewhere = std::span(moved).subspan(3);
      std::ranges::copy(x, elsewhere.begin());
      softmax(elsewhere);
      EXPECT_TRUE(std::ranges::equal(elsewhere, found));
    });
  });
}

TEST(Softmax, GivesNothingToMinusInfinity) {
  at_every_target([] {
    std::vector<float> x(37, -std::numeric_limits<float>::infinity());
    x[5] = -1e30f;
    softmax(x);
    for (std::size_t j = 0; j < x.size(); ++j) EXPECT_EQ(x[j], j == 5 ? 1.0f : 0.0f);
  });
}

TEST(Softmax, IsNaNWhereAnEntryIsNaNOrInfinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  at_every_target([] {
    for (const std::size_t n : {1, 7, 37}) {
      for (const float wrong : {NAN, infinity}) {
        for (std::size_t at = 0; at < n; ++at) {
          std::vector<float> x(n, 0.5f);
          x[at] = wrong;
          softmax(x);
          EXPECT_TRUE(std::ranges::all_of(x, [](float v) { return std::isnan(v); })) << wrong << " at " << at;
        }
      }
    }
  });
}

TEST(Softmax, IsNaNWhereEveryEntryIsMinusInfinity) {
  at_every_target([] {
    for (const std::size_t n : {1, 7, 37}) {
      std::vector<float> x(n, -std::numeric_limits<float>::infinity());
      softmax(x);
      EXPECT_TRUE(std::ranges::all_of(x, [](float v) { return std::isnan(v); })) << n;
    }
  });
}

TEST(Rope, AgreesWithItsTwinAndLeavesTheRestAlone) {
  at_every_target([] {
    for (const bool interleaved : {false, true}) {
      at_every_length_and_offset([&](std::size_t n, std::size_t offset) {
        Vectors x(2 * n + 3, offset, 1), expected(2 * n + 3, offset, 1);
        const Vectors cosines(n, offset, 2), sines(n, offset, 3);
        std::vector<float> sizes(2 * n + 3);
        for (std::size_t i = 0; i < n; ++i) {
          const std::size_t a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + n;
          const float u = std::abs(x.view[a]), v = std::abs(x.view[b]);
          const float c = std::abs(cosines.view[i]), s = std::abs(sines.view[i]);
          sizes[a] = u * c + v * s;
          sizes[b] = u * s + v * c;
        }
        rope(x.view, cosines.view, sines.view, interleaved);
        scalar::rope(expected.view, cosines.view, sines.view, interleaved);
        expect_close(x.view, expected.view, 2e-7, sizes);
        for (std::size_t j = 2 * n; j < 2 * n + 3; ++j) EXPECT_EQ(x.view[j], expected.view[j]);
      });
    }
  });
}

TEST(RoundToF16, RoundsEveryNumberAsOneByOne) {
  std::mt19937 generator(1);
  std::vector<float> x;
  for (int i = 0; i < 20'000; ++i) x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(generator())));
  for (int exponent = -30; exponent < 18; ++exponent) x.push_back(std::ldexp(1.5f, exponent));
  for (const float special : {0.0f, std::numeric_limits<float>::infinity(), NAN, -NAN}) x.push_back(special);
  at_every_target([&] {
    std::vector<F16> rounded(x.size());
    round_to_f16(x, rounded);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(rounded[i].bits, round_to_f16(x[i]).bits) << x[i];
  });
}

}  // namespace
}  // namespace spectr
