#include "spectr/backend/cpu/kernels/before_target.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")
#include "spectr/backend/cpu/kernels/lanes_avx512-inl.h"
#include "spectr/backend/cpu/kernels/panel_kernel-inl.h"
#include "spectr/backend/cpu/kernels/tiles_amx-inl.h"

namespace spectr {
namespace {

// A group of 4 columns of a panel has the layout of a tile row: 16 × 4 bytes. Thus the product of a block's
// quants with the same columns of all rows of x is one instruction. Its latency is long, and half of the
// float units idle meanwhile: it pays off for several rows of x, long rows of weights, and blocks with one
// scale. Everything else is left to AVX-512 VNNI.
//
// A tile operation's cost hardly depends on how many of its 16 lines are used. So up to 8 rows of x are each
// stored as two lines, with one half of a block zeroed in each, and both halves take one instruction.
constexpr int tile_lines = 16;
constexpr bool separate_halves(int rows) {
  return 2 * rows <= tile_lines;
}

/// Minimum rows and columns for which tiles are faster than vectors.
constexpr int min_rows = 5;
constexpr std::size_t min_columns(int rows) {
  return rows < 7 ? 1024 : separate_halves(rows) ? 512 : 256;
}

/// The formats that use tiles.
template <class Format>
concept TileFormat = KeptFormat<Format> && Format::layout.scales_per_block() == 1;

/// Quants of Q4_0 are decoded into the upper nibbles of bytes, where making them signed takes no subtraction.
template <class Format>
constexpr int quant_factor = std::is_same_v<Format, quant::Q4_0> ? 16 : 1;

/// Decodes quant_factor times the quants of a block, minus their offset, as signed bytes: 8 groups of 64.
template <class Format>
HWY_INLINE void decode_block(const std::uint8_t* block, std::uint8_t* out) {
  if constexpr (quant_factor<Format> == 16) {
    const __m512i upper = _mm512_set1_epi8(-16), sign = _mm512_set1_epi8(-128);
    constexpr int and_then_xor = 0x6a;  // 16 · (quant − 8) = (16 · quant) ^ 0x80 as a signed byte
    for (int i = 0; i < 4; ++i) {
      const __m512i pair = _mm512_loadu_si512(block + 64 * i);  // groups i and i + 4
      const __m512i low = _mm512_slli_epi16(pair, 4);
      _mm512_store_si512(out + 64 * i, _mm512_ternarylogic_epi32(low, upper, sign, and_then_xor));
      _mm512_store_si512(out + 64 * (i + 4), _mm512_ternarylogic_epi32(pair, upper, sign, and_then_xor));
    }
  } else {
    [&]<int... group>(std::integer_sequence<int, group...>) {
      const __m512i offset = _mm512_set1_epi8(Format::layout.offset);
      (_mm512_store_si512(out + 64 * group,
                          _mm512_sub_epi8(numbers_of_group<Avx512Lanes, Format, group>(block), offset)),
       ...);
    }(std::make_integer_sequence<int, 8>());
  }
}

/// One of two panels multiplied by many rows of x: like multiply_lanes(), but tiles compute a block's integer
/// sums. Sums of signed quants need no correction; those of formats with minima do.
///
/// A step is one tile multiplication: of a whole block of x if its halves are separate, otherwise of half a
/// block. Quants pass through a three-stage pipeline: decode, multiply, scale. Loading a tile from memory
/// that was just written stalls, and so does reading sums at once. Therefore each stage works one step behind
/// the previous one, and the two panels alternate. If a block of x takes two steps, half of its rows are
/// scaled in each.
template <class Format, int rows, int index>
class PanelOfTwo {
 public:
  static constexpr QuantLayout layout = Format::layout;
  static constexpr ActivationBlock activation{.rows = rows,
                                              .corrections = layout.has_min ? 2 : 0,
                                              .factor = 0,
                                              .lines = separate_halves(rows)
                                                           ? ActivationBlock::Lines::separate_halves
                                                           : ActivationBlock::Lines::bytes};
  static constexpr int steps_per_block = separate_halves(rows) ? 1 : 2;

  PanelOfTwo(const PanelRun& run, std::size_t panel)
      : blocks_(run.shape.blocks()),
        quants_(run.quants_of(panel)),
        headers_(quants_ + run.shape.headers_at()),
        upcoming_(run.prefetch_after(panel, 2)) {
    decode(0);
  }

  /// Executes a step of block b of x, at q. Must be called once more after the last block, to finish.
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
  static constexpr bool as_stored = layout.meaning == QuantLayout::Meaning::signed_byte;
  /// If decoding takes few loads and stores, there is room for those that initialize a tile.
  static constexpr bool plain_nibbles =
      layout.bits() == 4 && layout.meaning == QuantLayout::Meaning::unsigned_number;
  static constexpr SumsFrom sums_from = layout.has_min || plain_nibbles ? SumsFrom::start : SumsFrom::zero;
  static constexpr std::size_t blocks_per_step = 2 / steps_per_block;
  static constexpr std::size_t block_bytes = 64 * layout.bits(), decoded_bytes = 8 * 64;
  static constexpr std::size_t prefetched_bytes = 2 * block_bytes;  // per block of x

  /// The scales of a panel's rows, for a block of weights.
  struct Scale {
    Lanes::Floats factor, start, min;
  };

  /// If the weights end in the middle of a block of x whose halves are separate, the lines of the missing
  /// half are zero; they multiply arbitrary memory: the headers, which are long enough.
  static_assert(!separate_halves(rows) || layout.blocks() > 1 ||
                min_columns(rows) / layout.columns * panel_rows * layout.header_bytes() >= block_bytes);
  std::size_t steps() const { return div_up(blocks_, blocks_per_step); }

  HWY_INLINE void decode(std::size_t step) {
    if (as_stored || step >= steps()) return;
    const std::uint8_t* const quants = quants_ + step * blocks_per_step * block_bytes;
    decode_block<Format>(quants, decoded_[step % 2]);
    if constexpr (separate_halves(rows))
      decode_block<Format>(quants + block_bytes, decoded_[step % 2] + decoded_bytes);
  }

  /// Returns the buffer for the sums of a step of block b of x, until its last row has been scaled. By then,
  /// the first step of the next block has also ended.
  HWY_INLINE std::uint8_t* products_of(std::size_t b, int part) { return products_[part == 1 ? 2 : b % 2]; }

  /// Begins a step with the lines at q, and stores the products of the previous step to `last`.
  HWY_INLINE void multiply(std::size_t step, const std::uint8_t* q, std::uint8_t* last) {
    if (step < steps()) {
      const std::uint8_t* const quants =
          as_stored ? quants_ + step * blocks_per_step * block_bytes : decoded_[step % 2];
      multiply_tiles<index, activation.line_bytes(), sums_from>(q, quants, last);
    } else if (step == steps()) {
      store_tile<index>(last);
    }
  }

  /// Adds the contribution of block b of x to its rows [from, to).
  template <int from, int to>
  HWY_INLINE void scale(std::size_t b, const std::uint8_t* q, __m512 (&sums)[rows]) {
    if constexpr (from == 0) {
      first_ = scale_of(2 * b);
      second_ = scale_of(2 * b + 1);
    }
    const std::uint8_t* const first = products_of(b, 0);
    const std::uint8_t* const second = separate_halves(rows) ? first + 64 * rows : products_of(b, 1);
#pragma GCC unroll 16
    for (std::size_t r = from; r < to; ++r) {
      prefetch_share(r);
      add_half(sums[r], first_, first + 64 * r, q + 4 * r);
      add_half(sums[r], second_, second + 64 * r, q + 4 * (rows + r));
    }
    if constexpr (to == rows) upcoming_.quants += prefetched_bytes / 4;
  }

  /// Adds a · (scale · sum − the minima's term).
  static HWY_INLINE void add_half(Lanes::Floats& y, const Scale& scale, const std::uint8_t* sum,
                                  const std::uint8_t* q) {
    const auto from_start = sums_from == SumsFrom::start
                                ? Lanes::load(sum)
                                : Lanes::add(Lanes::load(sum), std::bit_cast<int>(sum_start));
    auto part = Lanes::add_product(scale.start, Lanes::as_floats(from_start), scale.factor);
    if constexpr (layout.has_min) {
      part =
          Lanes::subtract_product(part, scale.min, Lanes::broadcast_float(q + activation.corrections_at()));
    }
    y = Lanes::add_product(y, part, Lanes::broadcast_float(q + activation.scales_at()));
  }

  /// Returns the scales of a block; zeros past the last block.
  HWY_INLINE Scale scale_of(std::size_t block) {
    if (block == blocks_) return {Lanes::zero_floats(), Lanes::zero_floats(), Lanes::zero_floats()};
    const std::size_t b = block % layout.blocks();  // index in its super-block
    if (b == 0) next_scales();
    return {scales_[b], Lanes::multiply(scales_[b], Lanes::float_of(-sum_start)), mins_[b]};
  }

  /// Prefetches row r's share of the lines of quants due per block of x; all at once would stall the
  /// tiles.
  HWY_INLINE void prefetch_share(std::size_t r) {
    constexpr std::size_t lines = 4 * ((prefetched_bytes / 4 + 63) / 64);
    for (std::size_t i = r * lines / rows; i < (r + 1) * lines / rows; ++i) {
      prefetch_line<CacheLevel::second>(upcoming_, i);
    }
  }

  HWY_INLINE void next_scales() {
    constexpr int bytes = panel_rows * layout.header_bytes();
    Format::decode_scales(quant::PanelHeader<Lanes>(headers_, 0, layout.f16s), scales_, mins_);
    prefetch<bytes, CacheLevel::second>(headers_ + upcoming_.headers);
    headers_ += bytes;
  }

  std::size_t blocks_;  // of weights
  const std::uint8_t* quants_;
  const std::uint8_t* headers_;  // of the next super-block
  PanelPrefetch upcoming_;
  alignas(64) std::uint8_t products_[3][64 * tile_lines];
  alignas(64) std::uint8_t decoded_[2][as_stored ? 1 : blocks_per_step * decoded_bytes];
  Lanes::Floats scales_[layout.blocks()], mins_[layout.blocks()];  // of the super-block
  Scale first_, second_;                                           // of the block of x that is scaled
};

/// Multiplies two panels, or a single last one (second == first), by all rows of x.
template <class Format, int rows>
HWY_INLINE void multiply_two_panels(const PanelRun& run, std::size_t first, std::size_t second,
                                    const std::uint8_t* x, __m512 (&sums)[2][rows]) {
  using First = PanelOfTwo<Format, rows, 0>;
  First first_panel(run, first);
  PanelOfTwo<Format, rows, 1> second_panel(run, second);
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
  if constexpr (quant_factor<Format> != 1) {
    const auto factor = _mm512_set1_ps(1.0f / quant_factor<Format>);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      sums[0][r] = Avx512Lanes::multiply(sums[0][r], factor);
      sums[1][r] = Avx512Lanes::multiply(sums[1][r], factor);
    }
  }
}

template <class Format, int rows>
void multiply_panels_in_tiles(const PanelRun& run, const std::uint8_t* x, float* y, std::size_t stride) {
  static constexpr TileShapes shapes =
      separate_halves(rows) ? TileShapes(2 * rows, 64) : TileShapes(rows, 32);
  const TilesInUse in_use(shapes);
  const std::size_t count = run.panels();
  for (std::size_t first = 0; first < count; first += 2) {
    __m512 sums[2][rows];
    multiply_two_panels<Format>(run, first, std::min(first + 1, count - 1), x, sums);
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

/// Returns an empty kernel if vectors are faster.
template <class Format>
PanelKernel tile_kernel_for(std::size_t cols, int rows) {
  if (rows < min_rows || cols < min_columns(rows)) return {};
  static constexpr auto kernels = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array{PanelKernel{&multiply_panels_in_tiles<Format, min_rows + r>,
                                  PanelOfTwo<Format, min_rows + r, 0>::activation}...};
  }(std::make_integer_sequence<int, tile_lines - min_rows + 1>());
  return kernels[static_cast<std::size_t>(rows - min_rows)];
}

/// Returns the format's kernels; null if a block has several scales.
PanelKernel (*tile_kernels(TensorType type))(std::size_t cols, int rows) {
  PanelKernel (*kernels)(std::size_t, int) = nullptr;
  with_format(type, [&]<class Format>(Format) {
    using Kept = typename KeptAs<Format>::Type;
    if constexpr (TileFormat<Kept>) kernels = tile_kernel_for<Kept>;
  });
  return kernels;
}

PanelKernel panel_kernel(TensorType type, std::size_t cols, int rows) {
  const auto kernels = tile_kernels(type);
  const PanelKernel kernel = kernels != nullptr ? kernels(cols, rows) : PanelKernel{};
  return kernel.multiply != nullptr ? kernel : avx512_vnni_kernels().panel_kernel(type, cols, rows);
}

int largest_sweep(TensorType type, std::size_t cols) {
  const bool in_tiles = tile_kernels(type) != nullptr && cols >= min_columns(tile_lines);
  return in_tiles ? tile_lines : avx512_vnni_kernels().largest_sweep(type, cols);
}

}  // namespace

const KernelSet& amx_kernels() {
  static const KernelSet set = [] {
    KernelSet all = avx512_vnni_kernels();
    all.largest_sweep = largest_sweep;
    all.panel_kernel = panel_kernel;
    all.interleaved_bytes = Prefetching{}.interleaved_bytes;
    all.fallback = Prefetching{}.fallback;
    return all;
  }();
  return set;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
