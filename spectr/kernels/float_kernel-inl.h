// The product of a few rows of plain numbers with a few rows of x, for any instruction set (see
// panel_kernel-inl.h).
#pragma once

#include "spectr/kernels/fetch-inl.h"
#include "spectr/kernels/half.h"
#include "spectr/kernels/tensor_type.h"

namespace spectr {

template <TensorType type>
HWY_INLINE float number(const std::byte* w, std::size_t j) {
  std::uint32_t bits = 0;
  if constexpr (type == TensorType::f32) {
    std::memcpy(&bits, w + 4 * j, 4);
    return std::bit_cast<float>(bits);
  }
  std::memcpy(&bits, w + 2 * j, 2);
  const auto half = static_cast<std::uint16_t>(bits);
  return type == TensorType::f16 ? half_to_float(half) : bfloat_to_float(half);
}

/// Column j is added to running sum j mod 16; those make a tree; the columns after the last 16 come one by
/// one.
template <class Lanes, TensorType type, int rows>
void multiply_floats(const std::byte* w, std::size_t row_bytes, std::size_t cols, std::ptrdiff_t ahead,
                     const float* x, float* y, std::size_t stride, std::size_t count) {
  constexpr std::size_t vectors = 16 / Lanes::lanes;
  constexpr std::size_t width = type == TensorType::f32 ? 4 : 2;
  const std::byte* of_row[4];
  for (std::size_t i = 0; i < 4; ++i) of_row[i] = w + (i < count ? i : 0) * row_bytes;
  typename Lanes::Floats sums[4][rows][vectors];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 16
      for (std::size_t v = 0; v < vectors; ++v) sums[i][r][v] = Lanes::zero_floats();
    }
  }
  const std::size_t bulk = cols / 16 * 16;
  for (std::size_t j = 0; j < bulk; j += 16) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) fetch_early<1>(of_row[i] + j * width + ahead);
#pragma GCC unroll 16
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t at = j + v * Lanes::lanes;
      const typename Lanes::Floats weights[4] = {Lanes::template numbers<type>(of_row[0] + at * width),
                                                 Lanes::template numbers<type>(of_row[1] + at * width),
                                                 Lanes::template numbers<type>(of_row[2] + at * width),
                                                 Lanes::template numbers<type>(of_row[3] + at * width)};
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) {
        const auto activation = Lanes::floats(x + r * cols + at);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) sums[i][r][v] = Lanes::add_product(sums[i][r][v], weights[i], activation);
      }
    }
  }
  float totals[4][rows];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) totals[i][r] = Lanes::sum_of_16(sums[i][r]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t r = 0; r < rows; ++r) {
      float total = totals[i][r];
      for (std::size_t j = bulk; j < cols; ++j)
        total = std::fma(number<type>(of_row[i], j), x[r * cols + j], total);
      y[r * stride + i] = total;
    }
  }
}

}  // namespace spectr
