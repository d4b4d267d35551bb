// The tile registers of AMX, as far as kernels_amx.cc uses them. Written as assembly: the compilers' own
// functions take the number of a tile as literal text only, and not all of them say that they read memory.
#pragma once

#include <cstdint>

namespace spectr {

/// What the processor is told about its tiles before use. Tile 0: for each row of x, 16 sums (ints); tile 1:
/// for each row of x, the 32 bytes of a block; tile 2: 8 groups of codes of 16 rows.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  constexpr explicit TileShapes(int x_rows) {
    set(0, x_rows, 64);
    set(1, x_rows, 32);
    set(2, 8, 64);
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

/// out[r][i] = Σ_j x[r][j] w[i][j] over the 32 columns of a block: x row after row, w group after group, both
/// signed bytes; out as rows of 16 ints.
HWY_INLINE void multiply_tiles(const std::uint8_t* x, const std::uint8_t* w, std::uint8_t* out) {
  asm volatile(
      "tilezero %%tmm0\n\t"
      "tileloadd (%[x],%[x_step],1), %%tmm1\n\t"
      "tileloadd (%[w],%[step],1), %%tmm2\n\t"
      "tdpbssd %%tmm2, %%tmm1, %%tmm0\n\t"
      "tilestored %%tmm0, (%[out],%[step],1)"
      :
      : [x] "r"(x), [w] "r"(w), [out] "r"(out), [x_step] "r"(std::uint64_t{32}), [step] "r"(std::uint64_t{64})
      : "memory");
}

}  // namespace spectr
