// The product of a few rows of plain numbers with a few rows of x, for any instruction set (see
// panel_kernel-inl.h).
#pragma once

#include "spectr/kernels/fetch-inl.h"
#include "spectr/kernels/float_lines.h"
#include "spectr/kernels/half.h"
#include "spectr/kernels/kernel_set.h"
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

/// What is kept in registers at a time, beside one vector of weights and one of each row of x: vectors of
/// running sums, of some rows of weights.
struct FloatTile {
  std::size_t weights;  ///< rows of them, 2 or 4
  std::size_t vectors;
};

/// Where registers are few: fewer rows of weights for two rows of x, so that lines of weights are read once;
/// for three, fewer sums, so that lines of x are, but of F32, where one line holds the numbers of one step.
template <class Lanes, TensorType type>
constexpr FloatTile float_tile(std::size_t rows) {
  FloatTile tile{.weights = 4, .vectors = FloatLines::sums / Lanes::lanes};
  while (tile.weights * rows * tile.vectors + rows + 1 > Lanes::registers && tile.vectors > 1) {
    if (tile.weights > 2 && (type == TensorType::f32 || rows < 3)) {
      tile.weights /= 2;
    } else {
      tile.vectors /= 2;
    }
  }
  return tile;
}

/// How multiply_floats() wants x.
template <class Lanes, TensorType type>
constexpr FloatLines float_lines(std::size_t rows) {
  return {.rows = rows, .together = float_tile<Lanes, type>(rows).vectors * Lanes::lanes};
}

/// How often it goes over the columns of 4 rows of weights.
template <class Lanes, TensorType type>
constexpr std::size_t times_over_columns(std::size_t rows) {
  constexpr std::size_t vectors = FloatLines::sums / Lanes::lanes;
  const FloatTile tile = float_tile<Lanes, type>(rows);
  return 4 / tile.weights * (vectors / tile.vectors);
}

/// The sums of a tile over all steps of 16 columns. The weights of a step are at of_row[i] + 16 numbers a
/// step; `line` and `coming` move on.
template <class Lanes, TensorType type, FloatTile tile, std::size_t rows>
HWY_INLINE void sum_tile(const std::byte* const (&of_row)[4], std::size_t first, std::size_t at,
                         std::size_t steps, const float*& line, ComingRows& coming, std::size_t apart,
                         typename Lanes::Floats (&sums)[tile.weights][rows][tile.vectors]) {
  constexpr std::size_t width = type == TensorType::f32 ? 4 : 2;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < tile.weights; ++i) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 16
      for (std::size_t v = 0; v < tile.vectors; ++v) sums[i][r][v] = Lanes::zero_floats();
    }
  }
  for (std::size_t step = 0; step < steps; ++step, at += FloatLines::sums * width) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) fetch_early<1, Lanes::fetching.to>(coming.from + i * apart);
    coming.from += coming.step_bytes;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < tile.vectors; ++v) {
      typename Lanes::Floats activations[rows];
#pragma GCC unroll 4
      for (std::size_t r = 0; r < rows; ++r)
        activations[r] = Lanes::in_register(Lanes::floats(line + (r * tile.vectors + v) * Lanes::lanes));
#pragma GCC unroll 4
      for (std::size_t i = 0; i < tile.weights; ++i) {
        const auto weights = Lanes::in_register(
            Lanes::template numbers<type>(of_row[first + i] + at + v * Lanes::lanes * width));
#pragma GCC unroll 4
        for (std::size_t r = 0; r < rows; ++r)
          sums[i][r][v] = Lanes::add_product(sums[i][r][v], weights, activations[r]);
      }
    }
    line += rows * tile.vectors * Lanes::lanes;
  }
}

/// Column j is added to running sum j mod 16; those make a tree; the columns after the last 16 come one by
/// one. So the bits of a product depend neither on `rows` nor on what is kept in registers.
template <class Lanes, TensorType type, std::size_t rows>
void multiply_floats(const FloatRows& w, const float* x, float* y, std::size_t stride) {
  constexpr std::size_t vectors = FloatLines::sums / Lanes::lanes;
  constexpr std::size_t width = type == TensorType::f32 ? 4 : 2;
  constexpr FloatTile tile = float_tile<Lanes, type>(rows);
  const std::size_t steps = w.cols / FloatLines::sums, bulk = steps * FloatLines::sums;
  const std::byte* of_row[4];
  for (std::size_t i = 0; i < 4; ++i) of_row[i] = w.first + (i < w.count ? i : 0) * w.row_bytes;

  typename Lanes::Floats all[4][rows][vectors];
  ComingRows coming = w.coming;
  const std::size_t apart = w.count == 4 ? w.row_bytes : 0;  // of the rows that come: there may be fewer
  const float* line = x;
  for (std::size_t first = 0; first < 4; first += tile.weights) {
    line = x;
    for (std::size_t share = 0; share < vectors; share += tile.vectors) {
      typename Lanes::Floats sums[tile.weights][rows][tile.vectors];
      sum_tile<Lanes, type, tile, rows>(of_row, first, share * Lanes::lanes * width, steps, line, coming,
                                        apart, sums);
#pragma GCC unroll 4
      for (std::size_t i = 0; i < tile.weights; ++i) {
#pragma GCC unroll 4
        for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 16
          for (std::size_t v = 0; v < tile.vectors; ++v) all[first + i][r][share + v] = sums[i][r][v];
        }
      }
    }
  }
  float totals[4][rows];
#pragma GCC unroll 4
  for (std::size_t i = 0; i < 4; ++i) {
#pragma GCC unroll 4
    for (std::size_t r = 0; r < rows; ++r) totals[i][r] = Lanes::sum_of_16(all[i][r]);
  }
  for (std::size_t i = 0; i < w.count; ++i) {
    for (std::size_t r = 0; r < rows; ++r) {
      float total = totals[i][r];
      const float* const last = line + r * (w.cols - bulk);
      for (std::size_t j = bulk; j < w.cols; ++j)
        total = std::fma(number<type>(of_row[i], j), last[j - bulk], total);
      y[r * stride + i] = total;
    }
  }
}

}  // namespace spectr
