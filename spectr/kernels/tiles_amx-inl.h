// The tile registers of AMX, as far as kernels_amx.cc uses them. Written as assembly: the compilers' own
// functions take the number of a tile as literal text only, and not all of them say that they read memory.
#pragma once

#include <cstdint>

namespace spectr {

/// What the processor is told about its tiles before use. Tiles 0 and 1: the sums (ints) of two panels, 16
/// for each line of x; tile 2: the lines, of 32 bytes for each of `blocks` blocks; tile 3: for each block 8
/// groups of codes of 16 rows.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  constexpr TileShapes(int lines, int blocks) {
    set(0, lines, 64);
    set(1, lines, 64);
    set(2, lines, 32 * blocks);
    set(3, 8 * blocks, 64);
  }

 private:
  constexpr void set(int tile, int count, int bytes) {
    rows[tile] = static_cast<std::uint8_t>(count);
    row_bytes[tile] = static_cast<std::uint16_t>(bytes);
  }
};
static_assert(sizeof(TileShapes) == 64);

/// While it lives, the tiles of this thread have these shapes.
class TilesInUse {
 public:
  explicit TilesInUse(const TileShapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }
  ~TilesInUse() { asm volatile("tilerelease"); }
  TilesInUse(const TilesInUse&) = delete;
  TilesInUse& operator=(const TilesInUse&) = delete;
};

/// Begins the products of one of two panels, which take turns, with x: out[l][i] = Σ_j x[l][j] w[i][j] over
/// the columns of 1 or 2 blocks; x line after line, w group after group, both signed bytes; out as lines of
/// 16 ints. A tile's sums take long to come. So it writes to `out` what the call before has begun for this
/// panel, and meanwhile the other panel was multiplied. The second panel meets the x that the first has
/// loaded.
template <int panel, int blocks>
HWY_INLINE void multiply_tiles(const std::uint8_t* x, const std::uint8_t* w, std::uint8_t* out) {
  constexpr std::uint64_t x_step = 32 * blocks, step = 64;
  if constexpr (panel == 0) {
    asm volatile(
        "tileloadd (%[x],%[x_step],1), %%tmm2\n\t"
        "tileloadd (%[w],%[step],1), %%tmm3\n\t"
        "tilestored %%tmm0, (%[out],%[step],1)\n\t"
        "tilezero %%tmm0\n\t"
        "tdpbssd %%tmm3, %%tmm2, %%tmm0"
        :
        : [x] "r"(x), [w] "r"(w), [out] "r"(out), [x_step] "r"(x_step), [step] "r"(step)
        : "memory");
  } else {
    asm volatile(
        "tileloadd (%[w],%[step],1), %%tmm3\n\t"
        "tilestored %%tmm1, (%[out],%[step],1)\n\t"
        "tilezero %%tmm1\n\t"
        "tdpbssd %%tmm3, %%tmm2, %%tmm1"
        :
        : [w] "r"(w), [out] "r"(out), [step] "r"(step)
        : "memory");
  }
}

/// Writes what the last call for this panel has begun.
template <int panel>
HWY_INLINE void store_tile(std::uint8_t* out) {
  constexpr std::uint64_t step = 64;
  if constexpr (panel == 0) {
    asm volatile("tilestored %%tmm0, (%[out],%[step],1)" : : [out] "r"(out), [step] "r"(step) : "memory");
  } else {
    asm volatile("tilestored %%tmm1, (%[out],%[step],1)" : : [out] "r"(out), [step] "r"(step) : "memory");
  }
}

}  // namespace spectr
