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
constexpr int fewest_rows(int together) {
  return together == 2 ? 5 : most_rows(2) + 1;
}
constexpr std::size_t fewest_columns(int rows) {
  return rows < 7 ? 1024 : rows <= most_rows(2) ? 512 : 256;
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

/// Where two panels store the sums of a tile, 16 ints for each line of x, and read them again. A load waits
/// for a store before it whose address ends with the same 12 bits.
class TileSums {
 public:
  /// Always the same place: where codes are decoded, there are stores to all endings in any case.
  std::uint8_t* of(std::size_t panel) { return bytes_ + panel * tile_bytes; }

  /// A place that ends unlike the lines of x, x_bytes of them, that are loaded now, or in the next step.
  std::uint8_t* far_from(const std::uint8_t* x, std::size_t x_bytes, std::size_t panel) {
    const std::size_t at = reinterpret_cast<std::uintptr_t>(x) + 2 * x_bytes + panel * tile_bytes;
    return bytes_ + at % endings / 64 * 64;
  }

 private:
  static constexpr std::size_t tile_bytes = tile_lines * 64, endings = 4096;
  alignas(endings) std::uint8_t bytes_[endings + tile_bytes];
};

/// One of two panels that meet many rows of x: multiply_lanes(), but that the integer sums of a block come
/// from tiles. Sums of signed codes need no correction; those of formats with minima do.
///
/// A step takes one block of columns, or two together, through three stations: codes are decoded, multiplied,
/// scaled. A tile cannot be loaded from what has just been written without waiting for memory, and neither
/// can its sums be read at once: so each station works one step behind the one before it, and the two panels
/// take turns.
template <TensorType type, int together, int rows, int index>
class PanelOfTwo {
 public:
  static constexpr CodeLayout layout = *code_layout(type);
  static constexpr ActivationBlock activation{rows, layout.has_min ? 1 : 0, together};
  static constexpr bool as_stored = type == TensorType::q8_0;  // signed bytes, nothing to decode
  static constexpr std::size_t decode_steps = as_stored ? 0 : 1;
  static constexpr std::size_t block_bytes = 64 * layout.bits(), step_bytes = together * block_bytes;

  PanelOfTwo(const PanelRun& run, std::size_t panel, TileSums& products)
      : steps_(run.shape.blocks() / together),
        codes_(run.codes_of(panel)),
        headers_(codes_ + run.shape.headers_at()),
        coming_(run.coming_after(panel, 2)),
        products_(products) {}

  HWY_INLINE void advance(std::size_t step, const std::uint8_t* x, __m512 (&sums)[rows]) {
    if constexpr (!as_stored) {
      if (step < steps_) decode(codes_ + step * step_bytes, decoded_[step % 2]);
    }
    const std::uint8_t* const q = x + (step - decode_steps) * activation.bytes();  // what is multiplied
    std::uint8_t* const products =
        as_stored ? products_.far_from(q, activation.bytes(), index) : products_.of(index);
    if (const std::size_t s = step - decode_steps; s < steps_) {
      const std::uint8_t* const w = as_stored ? codes_ + s * step_bytes : decoded_[s % 2];
      multiply_tiles<index, together>(q, w, products);
    } else if (s == steps_) {
      store_tile<index>(products);
    }
    if (const std::size_t s = step - decode_steps - 1; s < steps_) {
      scale(s * together, q - activation.bytes(), products, sums);
      coming_.codes += step_bytes / 4;
    }
  }

 private:
  using Lanes = Avx512Lanes;
  static constexpr std::size_t unit_blocks = layout.blocks();

  static HWY_INLINE void decode(const std::uint8_t* codes, std::uint8_t* out) {
    decode_block<type>(codes, out);
    if constexpr (together == 2) decode_block<type>(codes + block_bytes, out + 8 * 64);
  }

  /// Adds what the block, or the two blocks, from `block` on contribute. They have met the lines q.
  HWY_INLINE void scale(std::size_t block, const std::uint8_t* q, const std::uint8_t* products,
                        __m512 (&sums)[rows]) {
#pragma GCC unroll 2
    for (std::size_t i = 0; i < together; ++i) {
      const std::size_t b = (block + i) % unit_blocks;
      if (b == 0) next_scales();
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const std::size_t line = i * rows + static_cast<std::size_t>(r);
        fetch_share(line);
        const auto a = Lanes::broadcast_float(q + activation.scales_at() + 4 * line);
        const auto sum = Lanes::to_float(Lanes::load(products + 64 * line));
        sums[r] = Lanes::add_product(sums[r], sum, Lanes::multiply(scales_[b], a));
        if constexpr (layout.has_min) {
          const auto correction = Lanes::broadcast_float(q + activation.corrections_at() + 4 * line);
          sums[r] = Lanes::subtract_product(sums[r], mins_[b], correction);
        }
      }
    }
  }

  /// Of the lines of codes that a step asks for, those that are due with this line of x: asked for all at
  /// once, they keep tiles waiting.
  HWY_INLINE void fetch_share(std::size_t line) {
    constexpr std::size_t fetched = 4 * ((step_bytes / 4 + 63) / 64), lines = activation.lines();
    for (std::size_t i = line * fetched / lines; i < (line + 1) * fetched / lines; ++i) {
      fetch_line<CacheLevel::second>(coming_, i);
    }
  }

  HWY_INLINE void next_scales() {
    constexpr int bytes = panel_rows * layout.header_bytes();
    decode_scales<Lanes, type>(headers_, 0, scales_, mins_);
    fetch_early<bytes, CacheLevel::second>(headers_ + coming_.headers);
    headers_ += bytes;
  }

  std::size_t steps_;
  const std::uint8_t* codes_;
  const std::uint8_t* headers_;  // of the next unit
  ComingPanels coming_;
  TileSums& products_;
  alignas(64) std::uint8_t decoded_[2][as_stored ? 1 : together * 8 * 64];
  Lanes::Floats scales_[unit_blocks], mins_[unit_blocks];
};

/// The products of two panels, or of the last one if it is alone (second == first), with all rows of x.
template <TensorType type, int together, int rows>
HWY_INLINE void multiply_two_panels(const PanelRun& run, std::size_t first, std::size_t second,
                                    const std::uint8_t* x, __m512 (&sums)[2][rows]) {
  using First = PanelOfTwo<type, together, rows, 0>;
  using Second = PanelOfTwo<type, together, rows, 1>;
  TileSums products;
  First first_panel(run, first, products);
  Second second_panel(run, second, products);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sums[0][r] = sums[1][r] = Avx512Lanes::zero_floats();
  const std::size_t steps = run.shape.blocks() / together;
  for (std::size_t step = 0; step <= steps + First::decode_steps; ++step) {
    first_panel.advance(step, x, sums[0]);
    if (second != first) second_panel.advance(step, x, sums[1]);
  }
  if constexpr (code_factor(type) != 1) {
    const auto factor = _mm512_set1_ps(1.0f / code_factor(type));
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      sums[0][r] = Avx512Lanes::multiply(sums[0][r], factor);
      sums[1][r] = Avx512Lanes::multiply(sums[1][r], factor);
    }
  }
}

template <TensorType type, int together, int rows>
void multiply_panels_in_tiles(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride) {
  static constexpr TileShapes shapes(together * rows, together);
  const TilesInUse in_use(shapes);
  const std::size_t count = run.panels();
  for (std::size_t first = 0; first < count; first += 2) {
    __m512 sums[2][rows];
    multiply_two_panels<type, together>(run, first, std::min(first + 1, count - 1), x, sums);
#pragma GCC unroll 2
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t panel = first + i;
      if (panel == count) break;
#pragma GCC unroll 16
      for (std::size_t r = 0; r < rows; ++r) {
        store_first<Avx512Lanes>(sums[i][r], y + r * stride + panel * panel_rows, run.rows_of(panel));
      }
    }
  }
}

template <TensorType type, int together>
PanelKernel tile_kernel_together(int rows) {
  static constexpr int fewest = fewest_rows(together);
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array{PanelKernel{&multiply_panels_in_tiles<type, together, fewest + r>,
                                  PanelOfTwo<type, together, fewest + r, 0>::activation}...};
  }(std::make_integer_sequence<int, most_rows(together) - fewest + 1>());
  return kernels[static_cast<std::size_t>(rows - fewest)];
}

/// Empty where vectors are faster.
template <TensorType type>
PanelKernel tile_kernel_for(std::size_t cols, int rows) {
  if (cols < fewest_columns(rows)) return {};
  if (rows >= fewest_rows(1)) return tile_kernel_together<type, 1>(rows);
  if (rows >= fewest_rows(2) && cols % 64 == 0) return tile_kernel_together<type, 2>(rows);
  return {};
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
  const bool in_tiles = tile_kernels(type) != nullptr && cols >= fewest_columns(tile_lines);
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
