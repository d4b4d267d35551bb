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
// be read, and meanwhile half of the units for floats rest: that pays for many rows of x, where rows of
// weights are long and a block has one scale. All else is left to AVX-512 VNNI.
constexpr int fewest_rows = 7;
constexpr int most_rows = 16;
constexpr std::size_t fewest_columns = 256;

/// The blocks of a panel go through stations: codes are decoded, multiplied, scaled. A tile cannot be loaded
/// from what has just been written without waiting for memory, and neither can its sums be read at once: so
/// each station works on another block, `apart` blocks behind the one before.
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

/// multiply_lanes() for many rows of x: the integer sums of a block come from tiles, the rest is the same.
/// Sums of signed codes need no correction; those of formats with minima do.
template <TensorType type, int rows>
HWY_INLINE void multiply_panel(const PanelRun& run, std::size_t panel, const std::uint8_t* x,
                               __m512 (&sums)[rows]) {
  using Lanes = Avx512Lanes;
  constexpr CodeLayout layout = *code_layout(type);
  constexpr ActivationBlock activation{rows, 1};
  constexpr bool as_stored = type == TensorType::q8_0;  // signed bytes, nothing to decode
  constexpr std::size_t block_bytes = 64 * layout.bits(), unit_blocks = layout.blocks();
  constexpr std::size_t multiplied = as_stored ? 0 : apart, scaled = multiplied + apart;
  alignas(64) std::uint8_t decoded[as_stored ? 1 : places][8 * 64];
  alignas(64) std::uint8_t products[places][rows * 64];  // ints, 16 for each row of x
  Lanes::Floats scales[unit_blocks], mins[unit_blocks];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sums[r] = Lanes::zero_floats();
  const std::uint8_t* const codes = run.codes_of(panel);
  const std::uint8_t* headers = codes + run.shape.headers_at();
  const std::ptrdiff_t ahead = run.ahead_of(panel);
  ComingCodes coming(codes + ahead, run.shape.headers_at());
  const std::size_t blocks = run.shape.blocks();
  for (std::size_t step = 0; step < blocks + scaled; ++step) {
    if (step < blocks) {
      const std::uint8_t* const block = codes + step * block_bytes;
      coming.fetch_some<block_bytes>();
      if constexpr (!as_stored) decode_block<type>(block, decoded[step % places]);
    }
    if (const std::size_t b = step - multiplied; b < blocks) {
      const std::uint8_t* const w = as_stored ? codes + b * block_bytes : decoded[b % places];
      multiply_tiles(x + b * activation.bytes(), w, products[b % places]);
    }
    if (const std::size_t b = step - scaled; b < blocks) {
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
}

template <TensorType type, int rows>
void multiply_panels_in_tiles(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride) {
  static constexpr TileShapes shapes(rows);
  const TilesInUse in_use(shapes);
  for (std::size_t p = 0; p < run.panels(); ++p, y += panel_rows) {
    __m512 sums[rows];
    multiply_panel<type, rows>(run, p, x, sums);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < rows; ++r) store_first<Avx512Lanes>(sums[r], y + r * stride, run.rows_of(p));
  }
}

template <TensorType type>
PanelKernel tile_kernel_for(int rows) {
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array<PanelKernel, sizeof...(r)>{&multiply_panels_in_tiles<type, fewest_rows + r>...};
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

bool tiles_pay(TensorType type, std::size_t cols) {
  return tile_kernels(type) != nullptr && cols >= fewest_columns;
}

PanelKernel panel_kernel(TensorType type, std::size_t cols, int rows) {
  if (rows >= fewest_rows && tiles_pay(type, cols)) return tile_kernels(type)(rows);
  return avx512_vnni_kernels().panel_kernel(type, cols, rows);
}

int largest_sweep(TensorType type, std::size_t cols) {
  return tiles_pay(type, cols) ? most_rows : avx512_vnni_kernels().largest_sweep(type, cols);
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
