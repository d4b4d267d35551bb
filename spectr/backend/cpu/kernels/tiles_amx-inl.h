// The AMX tile operations that kernels_amx.cc uses, as assembly: compilers' intrinsics require literal tile
// numbers, and some do not declare that they read memory.
#pragma once

#include <cstdint>

namespace spectr {

/// The tile configuration. Tiles 0 and 1 have the sums (ints) of two panels, 16 for each line of x; tile
/// 2 has the lines of `line_bytes` columns; tile 3 has as many quants of 16 rows, in groups of 4
/// columns.
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

/// Configures the tiles of this thread with these shapes during its lifetime.
class TilesInUse {
 public:
  explicit TilesInUse(const TileShapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }
  ~TilesInUse() { asm volatile("tilerelease"); }
  TilesInUse(const TilesInUse&) = delete;
  TilesInUse& operator=(const TilesInUse&) = delete;
};

/// Stores the sums begun last for one of two panels to `out`, as lines of 16 ints.
template <int panel>
HWY_INLINE void store_tile(std::uint8_t* out) {  // NOLINT(readability-non-const-parameter): assembly writes
  constexpr std::uint64_t step = 64;
  asm volatile("tilestored %%tmm%c[sums], (%[out],%[step],1)"
               :
               : [out] "r"(out), [step] "r"(step), [sums] "i"(panel)
               : "memory");
}

/// Start values of integer sums in a tile: zero, or the bits of sum_start, so that they are valid floats.
enum class SumsFrom { zero, start };

/// A line of start values.
alignas(64) inline constexpr std::array<float, 16> start_of_sums = [] {
  std::array<float, 16> line{};
  line.fill(sum_start);
  return line;
}();

/// Begins the products of x with one of two panels, used alternately: out[l][i] = sum_start + Σ_j x[l][j]
/// w[i][j], as a float; x is line by line with stride `line_bytes`, w is group by group, both signed bytes.
/// Because the sums of a tile have a long latency, it stores to `out` what the previous call for this panel
/// has begun; meanwhile, the other panel was multiplied. The second panel reuses the x that the first has
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
