#include "spectr/kernels/kernel_sets.h"

#if defined(__x86_64__)
#include <hwy/base.h>
#include <immintrin.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "spectr/kernels/activations.h"
#include "spectr/kernels/half.h"
#include "spectr/kernels/panels.h"

// Nothing above may be compiled for the target below: the linker could give it to every machine.
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")
#include "spectr/kernels/lanes_avx512-inl.h"
#include "spectr/kernels/panel_kernel-inl.h"
#include "spectr/kernels/tiles_amx-inl.h"

namespace spectr {
namespace {

// A group of 4 columns of a panel is a row of a tile as the processor wants it: 16 × 4 bytes. So the codes of
// a block, times the same columns of all rows of x, are one instruction. It takes a while until its sums can
// be read, and meanwhile half of the units for floats rest: that pays for several rows of x, where rows of
// weights are long and a block has one scale. All else is left to AVX-512 VNNI.
//
// What a tile costs depends little on how many of its 16 lines are used. So up to 8 rows of x meet two blocks
// at once, and are lines twice: once with zeros in place of the second block, once in place of the first.
constexpr int tile_lines = 16;
constexpr int most_rows(int together) {
  return tile_lines / together;
}

/// From so many rows and columns on, tiles take less time than vectors.
constexpr int fewest_rows(TensorType type) {
  return code_layout(type)->has_min ? 8 : 7;
}
constexpr std::size_t fewest_columns(int together) {
  return together == 1 ? 256 : 512;
}

/// Codes of Q4_0 are decoded in the upper halves of their bytes, where their sign takes no subtraction.
constexpr int code_factor(TensorType type) {
  return type == TensorType::q4_0 ? 16 : 1;
}

/// code_factor times the codes of a block less their offset, as signed bytes: 8 groups of 64.
template <TensorType type>
HWY_INLINE void decode_block(const std::uint8_t* block, std::uint8_t* out) {
  if constexpr (type == TensorType::q4_0) {
    const __m512i upper = _mm512_set1_epi8(-16), sign = _mm512_set1_epi8(-128);
    constexpr int and_then_xor = 0x6a;  // 16 · (code − 8) = (16 · code) ^ 0x80 as a signed byte
    for (int i = 0; i < 4; ++i) {
      const __m512i pair = _mm512_loadu_si512(block + 64 * i);  // groups i and i + 4
      const __m512i low = _mm512_slli_epi16(pair, 4);
      _mm512_store_si512(out + 64 * i, _mm512_ternarylogic_epi32(low, upper, sign, and_then_xor));
      _mm512_store_si512(out + 64 * (i + 4), _mm512_ternarylogic_epi32(pair, upper, sign, and_then_xor));
    }
  } else {
    [&]<int... group>(std::integer_sequence<int, group...>) {
      const __m512i offset = _mm512_set1_epi8(code_layout(type)->offset);
      (_mm512_store_si512(out + 64 * group,
                          _mm512_sub_epi8(codes_of_group<Avx512Lanes, type, group>(block), offset)),
       ...);
    }(std::make_integer_sequence<int, 8>());
  }
}

/// multiply_lanes() for many rows of x: the integer sums of a block come from tiles, the rest is the same.
/// Sums of signed codes need no correction; those of formats with minima do.
///
/// The blocks of a panel, `together` at a time, go through stations: codes are decoded, multiplied, scaled. A
/// tile cannot be loaded from what has just been written without waiting for memory, and neither can its sums
/// be read at once: so each station works on other blocks, `apart` steps behind the one before.
template <TensorType type, int together, int rows>
HWY_INLINE void multiply_panel(const PanelRun& run, std::size_t panel, const std::uint8_t* x,
                               __m512 (&sums)[rows]) {
  using Lanes = Avx512Lanes;
  constexpr CodeLayout layout = *code_layout(type);
  constexpr ActivationBlock activation{rows, 1, together};
  constexpr bool as_stored = type == TensorType::q8_0;  // signed bytes, nothing to decode
  constexpr std::size_t block_bytes = 64 * layout.bits(), unit_blocks = layout.blocks();
  constexpr std::size_t apart = 2 / together, places = 2 * apart;  // of blocks between two stations
  constexpr std::size_t multiplied = as_stored ? 0 : apart, scaled = multiplied + apart;
  alignas(64) std::uint8_t decoded[as_stored ? 1 : places][together * 8 * 64];
  alignas(64) std::uint8_t products[places][activation.lines() * 64];  // ints, 16 for each line of x
  Lanes::Floats scales[unit_blocks], mins[unit_blocks];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sums[r] = Lanes::zero_floats();
  const std::uint8_t* const codes = run.codes_of(panel);
  const std::uint8_t* headers = codes + run.shape.headers_at();
  ComingPanels coming = run.coming_after(panel);
  const std::size_t steps = run.shape.blocks() / together;
  for (std::size_t step = 0; step < steps + scaled; ++step) {
    if (step < steps) {
      if (together == 2 || step % 2 == 0) fetch_codes<2 * block_bytes>(coming);
#pragma GCC unroll 2
      for (std::size_t i = 0; i < together; ++i) {
        const std::uint8_t* const block = codes + (step * together + i) * block_bytes;
        if constexpr (!as_stored) decode_block<type>(block, decoded[step % places] + i * 8 * 64);
      }
    }
    if (const std::size_t s = step - multiplied; s < steps) {
      const std::uint8_t* const w = as_stored ? codes + s * together * block_bytes : decoded[s % places];
      multiply_tiles<together>(x + s * activation.bytes(), w, products[s % places]);
    }
    if (const std::size_t s = step - scaled; s < steps) {
      const std::uint8_t* const q = x + s * activation.bytes();
#pragma GCC unroll 2
      for (std::size_t i = 0; i < together; ++i) {
        const std::size_t b = (s * together + i) % unit_blocks;
        if (b == 0) {
          decode_scales<Lanes, type>(headers, 0, scales, mins);
          fetch_early<panel_rows * layout.header_bytes()>(headers + coming.headers);
          headers += panel_rows * layout.header_bytes();
        }
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) {
          const std::size_t line = i * rows + static_cast<std::size_t>(r);
          const auto a = Lanes::broadcast_float(q + activation.scales_at() + 4 * line);
          const auto sum = Lanes::to_float(Lanes::load(products[s % places] + 64 * line));
          sums[r] = Lanes::add_product(sums[r], sum, Lanes::multiply(scales[b], a));
          if constexpr (layout.has_min) {
            const auto correction = Lanes::broadcast_float(q + activation.corrections_at() + 4 * line);
            sums[r] = Lanes::subtract_product(sums[r], mins[b], correction);
          }
        }
      }
    }
  }
  if constexpr (code_factor(type) != 1) {
    const auto factor = _mm512_set1_ps(1.0f / code_factor(type));
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) sums[r] = Lanes::multiply(sums[r], factor);
  }
}

template <TensorType type, int together, int rows>
void multiply_panels_in_tiles(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride) {
  static constexpr TileShapes shapes(together * rows, together);
  const TilesInUse in_use(shapes);
  for (std::size_t p = 0; p < run.panels(); ++p, y += panel_rows) {
    __m512 sums[rows];
    multiply_panel<type, together, rows>(run, p, x, sums);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) store_first<Avx512Lanes>(sums[r], y + r * stride, run.rows_of(p));
  }
}

template <TensorType type, int together>
PanelKernel tile_kernel_together(int rows) {
  static constexpr int fewest = fewest_rows(type);
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array{PanelKernel{&multiply_panels_in_tiles<type, together, fewest + r>, together}...};
  }(std::make_integer_sequence<int, most_rows(together) - fewest + 1>());
  return kernels[static_cast<std::size_t>(rows - fewest)];
}

/// Empty where vectors are faster.
template <TensorType type>
PanelKernel tile_kernel_for(std::size_t cols, int rows) {
  const int together = cols % 64 == 0 && cols >= fewest_columns(2) && rows <= most_rows(2) ? 2 : 1;
  if (rows < fewest_rows(type) || cols < fewest_columns(together)) return {};
  return together == 2 ? tile_kernel_together<type, 2>(rows) : tile_kernel_together<type, 1>(rows);
}

/// The format's kernels; null where it has none.
PanelKernel (*tile_kernels(TensorType type))(std::size_t cols, int rows) {
  switch (type) {
    using enum TensorType;
    case q8_0:
      return tile_kernel_for<q8_0>;
    case q4_0:
      return tile_kernel_for<q4_0>;
    case q4_1:
      return tile_kernel_for<q4_1>;
    case q5_0:
      return tile_kernel_for<q5_0>;
    case q5_1:
      return tile_kernel_for<q5_1>;
    case q4_k:
      return tile_kernel_for<q4_k>;
    case q5_k:
      return tile_kernel_for<q5_k>;
    default:
      return nullptr;
  }
}

PanelKernel panel_kernel(TensorType type, std::size_t cols, int rows) {
  const auto kernels = tile_kernels(type);
  const PanelKernel kernel = kernels != nullptr ? kernels(cols, rows) : PanelKernel{};
  return kernel.multiply != nullptr ? kernel : avx512_vnni_kernels().panel_kernel(type, cols, rows);
}

int largest_sweep(TensorType type, std::size_t cols) {
  const bool in_tiles = tile_kernels(type) != nullptr && cols >= fewest_columns(1);
  return in_tiles ? tile_lines : avx512_vnni_kernels().largest_sweep(type, cols);
}

}  // namespace

const KernelSet& amx_kernels() {
  static const KernelSet& vectors = avx512_vnni_kernels();
  static const KernelSet set = {largest_sweep, vectors.largest_float_sweep, vectors.signed_excess,
                                panel_kernel, vectors.float_kernel};
  return set;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
