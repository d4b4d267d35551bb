#include "spectr/kernels/vector_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "spectr/kernels/scalar_ops.h"
#include "tests/kernels/vector_kernels.h"
#include "tests/support/random_tensor.h"

namespace spectr {
namespace {

using test::random_floats;

/// Lengths around the widths of vectors and of the unrolled loops, and starts at every offset in a vector.
template <class Claim>
void at_every_length_and_offset(const Claim& claim) {
  for (std::size_t n = 1; n <= 2 * 64 + 1; n += n < 36 ? 1 : 7) {
    for (const std::size_t offset : {0, 1, 3, 8}) claim(n, offset);
  }
  claim(2048, 0);
}

struct Vectors {
  std::vector<float> store;
  std::span<float> view;

  Vectors(std::size_t n, std::size_t offset, std::uint32_t seed)
      : store(random_floats(n + offset, seed)), view(std::span(store).subspan(offset)) {}
};

TEST(Dot, IsWithinTheRoundingOfAFloatSum) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      const Vectors x(n, offset, 1), y(n, offset, 2);
      double size = 0;
      for (std::size_t j = 0; j < n; ++j) size += std::abs(double{x.view[j]} * y.view[j]);
      // Each term passes at most n / 16 + 8 additions of relative error 2⁻²⁴ where vectors are at work.
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
      expect_close(out, expected, 2e-6);
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
      expect_close(out, expected, n == 2 ? 1e-4 : 1e-5);  // two close numbers cancel
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
      swiglu(gate.view, up.view);
      scalar::swiglu(expected.view, up.view);
      expect_close(gate.view, expected.view, 1e-6);
    });
  });
}

TEST(Gelu, AgreesWithItsTwinForSmallAndHugeNumbers) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1), expected(n, offset, 1);
      for (std::size_t j = 0; j < n; j += 3) x.view[j] = expected.view[j] *= j % 2 == 0 ? 100.0f : 1e-3f;
      gelu(x.view);
      scalar::gelu(expected.view);
      expect_close(x.view, expected.view, 1e-6);
    });
  });
}

TEST(Largest, IsTheLargestAndToldApartFromWhatIsNoNumber) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  at_every_target([&] {
    at_every_length_and_offset([&](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1);
      EXPECT_EQ(largest(x.view), *std::ranges::max_element(x.view));
      for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        const float was = x.view[at];
        x.view[at] = -infinity;
        EXPECT_EQ(largest(x.view), *std::ranges::max_element(x.view));
        for (const float strange : {infinity, std::numeric_limits<float>::quiet_NaN()}) {
          x.view[at] = strange;
          EXPECT_TRUE(std::isnan(largest(x.view))) << at << " of " << n;
        }
        x.view[at] = was;
      }
    });
  });
}

TEST(NextAbove, FindsEveryEntryAboveTheBarInOrder) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      const Vectors x(n, offset, 1);
      const float bar = x.view[n / 2];
      std::size_t at = next_above(x.view, 0, bar);
      for (std::size_t j = 0; j < n; ++j) {
        if (!(x.view[j] > bar)) continue;
        ASSERT_EQ(at, j);
        at = next_above(x.view, at + 1, bar);
      }
      EXPECT_EQ(at, n);
    });
  });
}

TEST(Softmax, AgreesWithItsTwinAndSumsToOne) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1), expected(n, offset, 1);
      for (std::size_t j = 0; j < n; j += 5) x.view[j] = expected.view[j] *= 20.0f;
      softmax(x.view);
      scalar::softmax(expected.view);
      expect_close(x.view, expected.view, 2e-6);
      EXPECT_NEAR(std::accumulate(x.view.begin(), x.view.end(), 0.0), 1.0, 1e-5);
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

TEST(ExpDifferences, AgreesWithItsTwinAndGivesNothingToMinusInfinity) {
  at_every_target([] {
    for (std::size_t n = 1; n < 70; ++n) {
      std::vector<double> x(n), expected;
      for (std::size_t j = 0; j < n; ++j) x[j] = 3.0 - 0.37 * static_cast<double>((j * j) % 97);
      if (n > 3) x[3] = -std::numeric_limits<double>::infinity();
      if (n > 5) x[5] = -1e9;
      expected = x;
      exp_differences(x, 3.0, 1.25);
      scalar::exp_differences(expected, 3.0, 1.25);
      for (std::size_t j = 0; j < n; ++j) ASSERT_NEAR(x[j], expected[j], 1e-15 * expected[j]) << j;
    }
  });
}

TEST(LogSumExp, AgreesWithItsTwin) {
  at_every_target([] {
    at_every_length_and_offset([](std::size_t n, std::size_t offset) {
      Vectors x(n, offset, 1);
      for (std::size_t j = 0; j < n; j += 5) x.view[j] *= 20.0f;
      EXPECT_NEAR(log_sum_exp(x.view), scalar::log_sum_exp(x.view), 1e-5);
      if (n > 1) x.view[0] = -std::numeric_limits<float>::infinity();
      EXPECT_NEAR(log_sum_exp(x.view), scalar::log_sum_exp(x.view), 1e-5);
    });
  });
}

TEST(Rope, AgreesWithItsTwinAndLeavesTheRestAlone) {
  at_every_target([] {
    for (const bool interleaved : {false, true}) {
      at_every_length_and_offset([&](std::size_t n, std::size_t offset) {
        Vectors x(2 * n + 3, offset, 1), expected(2 * n + 3, offset, 1);
        const Vectors cosines(n, offset, 2), sines(n, offset, 3);
        rope(x.view, cosines.view, sines.view, interleaved);
        scalar::rope(expected.view, cosines.view, sines.view, interleaved);
        expect_close(x.view, expected.view, 1e-6);
        for (std::size_t j = 2 * n; j < 2 * n + 3; ++j) EXPECT_EQ(x.view[j], expected.view[j]);
      });
    }
  });
}

}  // namespace
}  // namespace spectr
