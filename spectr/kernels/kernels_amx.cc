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
// a block, times the same columns of all rows of x, are one instruction. That pays from a few rows of x on,
// and for formats with one scale a block; all else is left to AVX-512 VNNI.
constexpr int fewest_rows = 5;
constexpr int most_rows = 16;

/// The blocks of a panel go through three stations, and a tile cannot be loaded from what has just been
/// written without waiting for memory: so each station works on another block, `apart` blocks behind.
constexpr std::size_t apart = 2;
constexpr std::size_t places = 4;  // of blocks on their way between two stations; more than `apart`

/// The codes of a block less their offset, as signed bytes: 8 groups of 64.
template <TensorType type>
HWY_INLINE void decode_block(const std::uint8_t* block, std::uint8_t* out) {
  [&]<int... group>(std::integer_sequence<int, group...>) {
    const __m512i offset = _mm512_set1_epi8(code_layout(type)->offset);
    (_mm512_store_si512(out + 64 * group,
                        _mm512_sub_epi8(codes_of_group<Avx512Lanes, type, group>(block), offset)),
     ...);
  }(std::make_integer_sequence<int, 8>());
}

/// multiply_panel() for many rows of x: the integer sums of a block come from tiles, the rest is the same.
/// Sums of signed codes need no correction; those of formats with minima do.
template <TensorType type, int rows>
void multiply_panel_in_tiles(const std::uint8_t* codes, const std::uint8_t* headers, std::size_t units,
                             std::ptrdiff_t ahead, const std::uint8_t* x, float* y, std::size_t stride,
                             std::size_t count) {
  using Lanes = Avx512Lanes;
  constexpr CodeLayout layout = *code_layout(type);
  constexpr ActivationBlock activation{rows, 1};
  constexpr bool as_stored = type == TensorType::q8_0;
  constexpr std::size_t block_bytes = 64 * layout.bits(), unit_blocks = layout.blocks();
  static constexpr TileShapes shapes(rows);
  const TilesInUse in_use(shapes);

  alignas(64) std::uint8_t decoded[as_stored ? 1 : places][8 * 64];
  alignas(64) std::uint8_t products[places][rows * 64];  // ints, 16 for each row of x
  Lanes::Floats scales[unit_blocks], mins[unit_blocks];
  Lanes::Floats sums[rows];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sums[r] = Lanes::zero_floats();
  const std::size_t blocks = units * unit_blocks;
  for (std::size_t step = 0; step < blocks + 2 * apart; ++step) {
    if (step < blocks) {
      const std::uint8_t* const block = codes + step * block_bytes;
      fetch_early<64 * layout.bits()>(block + ahead);
      if constexpr (!as_stored) decode_block<type>(block, decoded[step % places]);
    }
    if (const std::size_t b = step - apart; b < blocks) {
      const std::uint8_t* const w = as_stored ? codes + b * block_bytes : decoded[b % places];
      multiply_tiles(x + b * activation.bytes(), w, products[b % places]);
    }
    if (const std::size_t b = step - 2 * apart; b < blocks) {
      if (b % unit_blocks == 0) {
        decode_scales<Lanes, type>(headers, 0, scales, mins);
        fetch_early<panel_rows * layout.header_bytes()>(headers + ahead);
        headers += panel_rows * layout.header_bytes();
      }
      const std::uint8_t* const q = x + b * activation.bytes();
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const auto a = Lanes::broadcast_float(q + activation.scales_at() + 4 * r);
        const auto sum = Lanes::to_float(Lanes::load(products[b % places] + 64 * r));
        sums[r] = Lanes::add_product(sums[r], sum, Lanes::multiply(scales[b % unit_blocks], a));
        if constexpr (layout.has_min) {
          const auto correction = Lanes::broadcast_float(q + activation.corrections_at() + 4 * r);
          sums[r] = Lanes::subtract_product(sums[r], mins[b % unit_blocks], correction);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < rows; ++r) store_first<Lanes>(sums[r], y + r * stride, count);
}

template <TensorType type>
PanelKernel tile_kernel_for(int rows) {
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array<PanelKernel, sizeof...(r)>{&multiply_panel_in_tiles<type, fewest_rows + r>...};
  }(std::make_integer_sequence<int, most_rows - fewest_rows + 1>());
  return kernels[static_cast<std::size_t>(rows - fewest_rows)];
}

/// The format's kernels for a number of rows of x from fewest_rows to most_rows; null where it has none.
PanelKernel (*tile_kernels(TensorType type))(int rows) {
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

PanelKernel panel_kernel(TensorType type, int rows) {
  const auto tiles = tile_kernels(type);
  return tiles == nullptr || rows < fewest_rows ? avx512_vnni_kernels().panel_kernel(type, rows)
                                                : tiles(rows);
}

int largest_sweep(TensorType type) {
  return tile_kernels(type) == nullptr ? avx512_vnni_kernels().largest_sweep(type) : most_rows;
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
