// The tile registers of AMX, as far as kernels_amx.cc uses them. Written as assembly: the compilers' own
// functions take the number of a tile as literal text only, and not all of them say that they read memory.
#pragma once

#include <cstdint>

namespace spectr {

/// What the processor is told about its tiles before use. Tiles 0 and 1: the sums (ints) of two panels, 16
/// for each line of x; tile 2: the lines, of `line_bytes` columns; tile 3: as many quants of 16 rows, in
/// groups of 4 columns.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  constexpr TileShapes(int lines, int line_bytes) {
    set(0, lines, 64);
    set(1, lines, 64);
    set(2, lines, line_bytes);
    set(3, line_bytes / 4, 64);
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

/// Writes the sums that were begun last for one of two panels to `out`, as lines of 16 ints.
template <int panel>
HWY_INLINE void store_tile(std::uint8_t* out) {
  constexpr std::uint64_t step = 64;
  asm volatile("tilestored %%tmm%c[sums], (%[out],%[step],1)"
               :
               : [out] "r"(out), [step] "r"(step), [sums] "i"(panel)
               : "memory");
}

/// Where the integer sums in a tile begin: at zero, or at the bits of sum_start, so that they are floats.
enum class SumsFrom { zero, start };

/// A line of sums that begin there.
alignas(64) inline constexpr std::array<float, 16> start_of_sums = [] {
  std::array<float, 16> line{};
  line.fill(sum_start);
  return line;
}();

/// Begins the products of one of two panels, which take turns, with x: out[l][i] = sum_start + Σ_j x[l][j]
/// w[i][j], as a float; x line after line, `line_bytes` from one to the next, w group after group, both
/// signed bytes. A tile's sums take long to come. So it writes to `out` what the call before has begun for
/// this panel, and meanwhile the other panel was multiplied. The second panel meets the x that the first has
/// loaded.
template <int panel, int line_bytes, SumsFrom from>
HWY_INLINE void multiply_tiles(const std::uint8_t* x, const std::uint8_t* w, std::uint8_t* out) {
  constexpr std::uint64_t step = 64, x_step = line_bytes;
  if constexpr (panel == 0) {
    asm volatile("tileloadd (%[x],%[step],1), %%tmm2" : : [x] "r"(x), [step] "r"(x_step) : "memory");
  }
  asm volatile("tileloadd (%[w],%[step],1), %%tmm3" : : [w] "r"(w), [step] "r"(step) : "memory");
  store_tile<panel>(out);
  if constexpr (from == SumsFrom::zero) {
    asm volatile("tilezero %%tmm%c[sums]" : : [sums] "i"(panel));
  } else {
    constexpr std::uint64_t same_line = 0;
    asm volatile("tileloadd (%[line],%[step],1), %%tmm%c[sums]"
                 :
                 : [line] "r"(start_of_sums.data()), [step] "r"(same_line), [sums] "i"(panel)
                 : "memory");
  }
  asm volatile("tdpbssd %%tmm3, %%tmm2, %%tmm%c[sums]" : : [sums] "i"(panel));
}

}  // namespace spectr
