#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace spectr {

/// Memory layout of rows quantized for products: consecutive slabs of up to 64 rows. A slab consists of
/// blocks of 64 columns, and a block of tiles of eight rows:
///
///     codes    [block][tile][lane] × 16 bytes: lane 4 g + t has words t, 4 + t, 8 + t, 12 + t of row g
///     scales   [block][tile][t][half][2], f32, of rows 2 t and 2 t + 1
///     sums     [block][tile][t][half][2], f32: Σ q of the same rows
struct QuantizedLayout {
  std::size_t rows = 0, cols = 0;

  static constexpr std::size_t slab_rows = 64;

  constexpr std::size_t slabs() const { return (rows + slab_rows - 1) / slab_rows; }
  constexpr std::size_t rows_of(std::size_t slab) const {
    return std::min(slab_rows, rows - slab * slab_rows);
  }
  constexpr std::size_t blocks() const { return (cols + 63) / 64; }
  /// Returns the number of tiles of each block, a power of two.
  constexpr std::size_t tiles() const { return std::bit_ceil((std::min(rows, slab_rows) + 7) / 8); }

  constexpr std::size_t codes_of(std::size_t slab) const { return slab * slab_bytes(); }
  constexpr std::size_t scales_of(std::size_t slab) const {
    return codes_of(slab) + blocks() * tiles() * 512;
  }
  constexpr std::size_t sums_of(std::size_t slab) const { return scales_of(slab) + blocks() * tiles() * 64; }
  constexpr std::size_t bytes() const { return slabs() * slab_bytes(); }

 private:
  constexpr std::size_t slab_bytes() const { return blocks() * tiles() * (512 + 64 + 64); }
};

}  // namespace spectr
