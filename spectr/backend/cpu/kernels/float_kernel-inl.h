// The product of a few rows of floating-point weights with a few rows of x, for any instruction set (see
// panel_kernel-inl.h). `Format` is the format of the weights (a PlainFormat).
#pragma once

#include "spectr/backend/cpu/kernels/float_lines.h"
#include "spectr/backend/cpu/kernels/kernel_set.h"
#include "spectr/backend/cpu/kernels/prefetch-inl.h"
#include "spectr/gguf/quant/formats.h"

namespace spectr {

/// The register tile: vectors of running sums for some rows of weights, in addition to a vector of weights
/// and a vector of each row of x.
struct FloatTile {
  std::size_t weights;  ///< rows of weights, 2 or 4
  std::size_t vectors;
};

/// Returns the tile. If registers are few, it has fewer rows of weights for two rows of x, so that lines of
/// weights are read once, and fewer sums for three rows, so that lines of x are. Numbers of 4 bytes use fewer
/// rows of weights in both cases, because one line of weights has those of one step.
template <class Lanes, class Format>
constexpr FloatTile float_tile(std::size_t rows) {
  FloatTile tile{.weights = 4, .vectors = FloatLines::sums / Lanes::lanes};
  while (tile.weights * rows * tile.vectors + rows + 1 > Lanes::registers && tile.vectors > 1) {
    if (tile.weights > 2 && (Format::format.bytes == 4 || rows < 3)) {
      tile.weights /= 2;
    } else {
      tile.vectors /= 2;
    }
  }
  return tile;
}

/// Returns the layout of x that multiply_floats() requires.
template <class Lanes, class Format>
constexpr FloatLines float_lines(std::size_t rows) {
  return {.rows = rows, .together = float_tile<Lanes, Format>(rows).vectors * Lanes::lanes};
}

/// Returns how often the kernel iterates over the columns of 4 rows of weights.
template <class Lanes, class Format>
constexpr std::size_t times_over_columns(std::size_t rows) {
  constexpr std::size_t vectors = FloatLines::sums / Lanes::lanes;
  const FloatTile tile = float_tile<Lanes, Format>(rows);
  return 4 / tile.weights * (vectors / tile.vectors);
}

/// Computes the sums of a tile over all steps of 16 columns. The weights of a step are at of_row[i], which
/// advance by 16 numbers per step; `line` and `upcoming` advance, too.
template <class Lanes, class Format, FloatTile tile, std::size_t rows>
HWY_INLINE void sum_tile(const std::byte* const (&of_row)[4], std::size_t first, std::size_t at,
                         std::size_t steps, const float*& line, RowPrefetch& upcoming, std::size_t row_stride,
                         typename Lanes::Floats (&sums)[tile.weights][rows][tile.vectors]) {
  constexpr std::size_t width = Format::format.bytes;
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
    for (std::size_t i = 0; i < 4; ++i) prefetch<1, Lanes::prefetching.to>(upcoming.from + i * row_stride);
    upcoming.from += upcoming.step_bytes;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < tile.vectors; ++v) {
      typename Lanes::Floats activations[rows];
#pragma GCC unroll 4
      for (std::size_t r = 0; r < rows; ++r)
        activations[r] = Lanes::in_register(Lanes::f32s(line + (r * tile.vectors + v) * Lanes::lanes));
#pragma GCC unroll 4
      for (std::size_t i = 0; i < tile.weights; ++i) {
        const auto weights = Lanes::in_register(
            Format::template load<Lanes>(of_row[first + i] + at + v * Lanes::lanes * width));
#pragma GCC unroll 4
        for (std::size_t r = 0; r < rows; ++r)
          sums[i][r][v] = Lanes::add_product(sums[i][r][v], weights, activations[r]);
      }
    }
    line += rows * tile.vectors * Lanes::lanes;
  }
}

/// Column j is added to running sum j mod 16; the sums are added pairwise, then the columns after the last 16
/// one by one. The bits of a product depend neither on `rows` nor on the register tile.
template <class Lanes, class Format, std::size_t rows>
void multiply_floats(const FloatRows& w, const float* x, float* y, std::size_t stride) {
  constexpr std::size_t vectors = FloatLines::sums / Lanes::lanes;
  constexpr std::size_t width = Format::format.bytes;
  constexpr FloatTile tile = float_tile<Lanes, Format>(rows);
  const std::size_t steps = w.cols / FloatLines::sums, bulk = steps * FloatLines::sums;
  const std::byte* of_row[4];
  for (std::size_t i = 0; i < 4; ++i) of_row[i] = w.first + (i < w.count ? i : 0) * w.row_bytes;

  typename Lanes::Floats all[4][rows][vectors];
  RowPrefetch upcoming = w.upcoming;
  const std::size_t row_stride =
      w.count == 4 ? w.row_bytes : 0;  // of the upcoming rows; 0 if not all 4 exist
  const float* line = x;
  for (std::size_t first = 0; first < 4; first += tile.weights) {
    line = x;
    for (std::size_t share = 0; share < vectors; share += tile.vectors) {
      typename Lanes::Floats sums[tile.weights][rows][tile.vectors];
      sum_tile<Lanes, Format, tile, rows>(of_row, first, share * Lanes::lanes * width, steps, line, upcoming,
                                          row_stride, sums);
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
        total = std::fma(Format::value(of_row[i] + j * width), last[j - bulk], total);
      y[r * stride + i] = total;
    }
  }
}

}  // namespace spectr
