// The tile registers of AMX, as far as kernels_amx.cc uses them. Written as assembly: the compilers' own
// functions take the number of a tile as literal text only, and not all of them say that they read memory.
#pragma once

#include <cstdint>

namespace spectr {

/// What the processor is told about its tiles before use. Tile 0: for each line of x, 16 sums (ints); tile 1:
/// the lines, of 32 bytes for each of `blocks` blocks; tile 2: for each block 8 groups of codes of 16 rows.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  constexpr TileShapes(int lines, int blocks) {
    set(0, lines, 64);
    set(1, lines, 32 * blocks);
    set(2, 8 * blocks, 64);
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

/// out[l][i] = Σ_j x[l][j] w[i][j] over the columns of 1 or 2 blocks: x line after line, w group after group,
/// both signed bytes; out as lines of 16 ints.
template <int blocks>
HWY_INLINE void multiply_tiles(const std::uint8_t* x, const std::uint8_t* w, std::uint8_t* out) {
  asm volatile(
      "tilezero %%tmm0\n\t"
      "tileloadd (%[x],%[x_step],1), %%tmm1\n\t"
      "tileloadd (%[w],%[step],1), %%tmm2\n\t"
      "tdpbssd %%tmm2, %%tmm1, %%tmm0\n\t"
      "tilestored %%tmm0, (%[out],%[step],1)"
      :
      : [x] "r"(x), [w] "r"(w), [out] "r"(out), [x_step] "r"(std::uint64_t{32 * blocks}),
        [step] "r"(std::uint64_t{64})
      : "memory");
}

}  // namespace spectr
