#include "spectr/kernels/before_target.h"

#if defined(__x86_64__)
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
// What a tile costs depends little on how many of its 16 lines are used. So up to 8 rows of x are lines
// twice, with zeros in place of either half of a block, and both halves take one instruction.
constexpr int tile_lines = 16;
constexpr bool halves_apart(int rows) {
  return 2 * rows <= tile_lines;
}

/// From so many rows and columns on, tiles take less time than vectors.
constexpr int fewest_rows = 5;
constexpr std::size_t fewest_columns(int rows) {
  return rows < 7 ? 1024 : halves_apart(rows) ? 512 : 256;
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

/// One of two panels that meet many rows of x: multiply_lanes(), but that the integer sums of a block come
/// from tiles. Sums of signed codes need no correction; those of formats with minima do.
///
/// A step is one multiplication: of a block of x whose halves are apart, or else of half a block. Codes go
/// through three stations: decoded, multiplied, scaled. A tile cannot be loaded from what has just been
/// written without waiting for memory, and neither can its sums be read at once: so each station works one
/// step behind the one before it, and the two panels take turns. Where a block of x takes two steps, half of
/// its rows are scaled in each.
template <TensorType type, int rows, int index>
class PanelOfTwo {
 public:
  static constexpr CodeLayout layout = *code_layout(type);
  static constexpr ActivationBlock activation{
      .rows = rows,
      .corrections = layout.has_min ? 2 : 0,
      .factor = 0,
      .lines = halves_apart(rows) ? ActivationBlock::Lines::halves_apart : ActivationBlock::Lines::bytes};
  static constexpr int steps_per_block = halves_apart(rows) ? 1 : 2;

  PanelOfTwo(const PanelRun& run, std::size_t panel)
      : blocks_(run.shape.blocks()),
        codes_(run.codes_of(panel)),
        headers_(codes_ + run.shape.headers_at()),
        coming_(run.coming_after(panel, 2)) {
    decode(0);
  }

  /// One of the steps of block b of x, at q; after the last block once more, to end what has begun.
  template <int part>
  HWY_INLINE void advance(std::size_t b, const std::uint8_t* q, __m512 (&sums)[rows]) {
    constexpr int from = part * rows / steps_per_block, to = (part + 1) * rows / steps_per_block;
    const std::size_t step = steps_per_block * b + part;
    decode(step + 1);
    multiply(step, q + part * activation.half_bytes(),
             part == 0 ? products_of(b - 1, steps_per_block - 1) : products_of(b, 0));
    if (b > 0) scale<from, to>(b - 1, q - activation.bytes(), sums);
  }

 private:
  using Lanes = Avx512Lanes;
  static constexpr bool as_stored = layout.codes == CodeLayout::Codes::signed_bytes;
  static constexpr std::size_t blocks_per_step = 2 / steps_per_block;
  static constexpr std::size_t block_bytes = 64 * layout.bits(), decoded_bytes = 8 * 64;
  static constexpr std::size_t fetched_bytes = 2 * block_bytes;  // with a block of x

  /// Of the rows of a panel, for a block of weights.
  struct Scale {
    Lanes::Floats factor, min;
  };

  /// Where weights end with half a block of x whose halves are apart, the other half of its lines are zeros,
  /// whatever they meet: headers, of which there are enough.
  static_assert(!halves_apart(rows) ||
                fewest_columns(rows) / layout.columns * panel_rows * layout.header_bytes() >= block_bytes);
  std::size_t steps() const { return div_up(blocks_, blocks_per_step); }

  HWY_INLINE void decode(std::size_t step) {
    if (as_stored || step >= steps()) return;
    const std::uint8_t* const codes = codes_ + step * blocks_per_step * block_bytes;
    decode_block<type>(codes, decoded_[step % 2]);
    if constexpr (halves_apart(rows))
      decode_block<type>(codes + block_bytes, decoded_[step % 2] + decoded_bytes);
  }

  /// Where the sums of a step of block b of x are until its last row has been scaled. By then the first step
  /// of the next block has ended, too.
  HWY_INLINE std::uint8_t* products_of(std::size_t b, int part) { return products_[part == 1 ? 2 : b % 2]; }

  /// Begins a step with the lines at q, and writes the products of the step before it to `last`.
  HWY_INLINE void multiply(std::size_t step, const std::uint8_t* q, std::uint8_t* last) {
    if (step < steps()) {
      const std::uint8_t* const codes =
          as_stored ? codes_ + step * blocks_per_step * block_bytes : decoded_[step % 2];
      multiply_tiles<index, activation.line_bytes()>(q, codes, last);
    } else if (step == steps()) {
      store_tile<index>(last);
    }
  }

  /// Adds what block b of x contributes to its rows [from, to).
  template <int from, int to>
  HWY_INLINE void scale(std::size_t b, const std::uint8_t* q, __m512 (&sums)[rows]) {
    if constexpr (from == 0) {
      first_ = scale_of(2 * b);
      second_ = scale_of(2 * b + 1);
    }
    const std::uint8_t* const first = products_of(b, 0);
    const std::uint8_t* const second = halves_apart(rows) ? first + 64 * rows : products_of(b, 1);
#pragma GCC unroll 16
    for (std::size_t r = from; r < to; ++r) {
      fetch_share(r);
      auto part = Lanes::zero_floats();  // y / a
      add_half(part, first_, first + 64 * r, q + 4 * r);
      add_half(part, second_, second + 64 * r, q + 4 * (rows + r));
      sums[r] = Lanes::add_product(sums[r], part, Lanes::broadcast_float(q + activation.scales_at() + 4 * r));
    }
    if constexpr (to == rows) coming_.codes += fetched_bytes / 4;
  }

  /// Adds scale · sum, less what minima take.
  static HWY_INLINE void add_half(Lanes::Floats& part, const Scale& scale, const std::uint8_t* sum,
                                  const std::uint8_t* q) {
    part = Lanes::add_product(part, Lanes::to_float(Lanes::load(sum)), scale.factor);
    if constexpr (layout.has_min) {
      part =
          Lanes::subtract_product(part, scale.min, Lanes::broadcast_float(q + activation.corrections_at()));
    }
  }

  /// Zeros after the last block.
  HWY_INLINE Scale scale_of(std::size_t block) {
    if (block == blocks_) return {Lanes::zero_floats(), Lanes::zero_floats()};
    const std::size_t b = block % layout.blocks();  // in its unit
    if (b == 0) next_scales();
    return {scales_[b], mins_[b]};
  }

  /// Of the lines of codes that are asked for with a block of x, those that are due with row r: asked for all
  /// at once, they keep tiles waiting.
  HWY_INLINE void fetch_share(std::size_t r) {
    constexpr std::size_t lines = 4 * ((fetched_bytes / 4 + 63) / 64);
    for (std::size_t i = r * lines / rows; i < (r + 1) * lines / rows; ++i) {
      fetch_line<CacheLevel::second>(coming_, i);
    }
  }

  HWY_INLINE void next_scales() {
    constexpr int bytes = panel_rows * layout.header_bytes();
    decode_scales<Lanes, type>(headers_, 0, scales_, mins_);
    fetch_early<bytes, CacheLevel::second>(headers_ + coming_.headers);
    headers_ += bytes;
  }

  std::size_t blocks_;  // of weights
  const std::uint8_t* codes_;
  const std::uint8_t* headers_;  // of the next unit
  ComingPanels coming_;
  alignas(64) std::uint8_t products_[3][64 * tile_lines];
  alignas(64) std::uint8_t decoded_[2][as_stored ? 1 : blocks_per_step * decoded_bytes];
  Lanes::Floats scales_[layout.blocks()], mins_[layout.blocks()];  // of the unit
  Scale first_, second_;                                           // of the block of x that is scaled
};

/// The products of two panels, or of the last one if it is alone (second == first), with all rows of x.
template <TensorType type, int rows>
HWY_INLINE void multiply_two_panels(const PanelRun& run, std::size_t first, std::size_t second,
                                    const std::uint8_t* x, __m512 (&sums)[2][rows]) {
  using First = PanelOfTwo<type, rows, 0>;
  First first_panel(run, first);
  PanelOfTwo<type, rows, 1> second_panel(run, second);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) sums[0][r] = sums[1][r] = Avx512Lanes::zero_floats();
  const std::size_t blocks = ActivationBlock::count(32 * run.shape.blocks());
  for (std::size_t b = 0; b <= blocks; ++b, x += First::activation.bytes()) {
    first_panel.template advance<0>(b, x, sums[0]);
    if (second != first) second_panel.template advance<0>(b, x, sums[1]);
    if constexpr (First::steps_per_block == 2) {
      first_panel.template advance<1>(b, x, sums[0]);
      if (second != first) second_panel.template advance<1>(b, x, sums[1]);
    }
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

template <TensorType type, int rows>
void multiply_panels_in_tiles(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride) {
  static constexpr TileShapes shapes = halves_apart(rows) ? TileShapes(2 * rows, 64) : TileShapes(rows, 32);
  const TilesInUse in_use(shapes);
  const std::size_t count = run.panels();
  for (std::size_t first = 0; first < count; first += 2) {
    __m512 sums[2][rows];
    multiply_two_panels<type>(run, first, std::min(first + 1, count - 1), x, sums);
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

/// Empty where vectors are faster.
template <TensorType type>
PanelKernel tile_kernel_for(std::size_t cols, int rows) {
  if (rows < fewest_rows || cols < fewest_columns(rows)) return {};
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array{PanelKernel{&multiply_panels_in_tiles<type, fewest_rows + r>,
                                  PanelOfTwo<type, fewest_rows + r, 0>::activation}...};
  }(std::make_integer_sequence<int, tile_lines - fewest_rows + 1>());
  return kernels[static_cast<std::size_t>(rows - fewest_rows)];
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
    case iq4_nl:
      return tile_kernel_for<iq4_nl>;
    case iq4_xs:
      return tile_kernel_for<iq4_xs>;
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
  static const KernelSet set = [] {
    KernelSet all = avx512_vnni_kernels();
    all.largest_sweep = largest_sweep;
    all.panel_kernel = panel_kernel;
    all.abreast_bytes = Fetching{}.abreast_bytes;
    all.else_in = Fetching{}.else_in;
    return all;
  }();
  return set;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
