#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "spectr/backend/device/weights/weight_panels.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/dequantize.h"
#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/formats.h"
#include "tests/twins/twins.h"

namespace spectr::twin {
namespace {

constexpr std::size_t product_half = 32, segments = 32;

float tree(std::span<float> numbers) {
  SPECTR_CHECK(std::has_single_bit(numbers.size()));
  for (std::size_t h = 1; h < numbers.size(); h *= 2) {
    for (std::size_t i = 0; i < numbers.size(); i += 2 * h) numbers[i] += numbers[i + h];
  }
  return numbers[0];
}

/// An unpacked row of W: the values of its quants, and the scales, each shared by `shared` of them.
struct Row {
  std::size_t shared;
  bool has_min;
  std::vector<int> codes;
  std::vector<QuantScale> scales;

  /// Returns t(b, h) for row r of x.
  float half(const QuantizedRows& x, std::size_t r, std::size_t half) const {
    float t = 0;
    for (std::size_t i = 0; i < product_half; i += shared) {
      const std::size_t first = half * product_half + i;
      int products = 0, sum = 0;
      for (std::size_t j = first; j < first + shared; ++j) {
        products += codes[j] * x.q[r * x.cols + j];
        sum += x.q[r * x.cols + j];
      }
      const QuantScale& scale = scales[first / shared];
      const float part = scale.factor * static_cast<float>(products);
      t = i == 0 ? part : t + part;
      if (has_min) t = t - scale.min * static_cast<float>(sum);
    }
    return t;
  }

  /// Returns the product with row r of x.
  float product(const QuantizedRows& x, std::size_t r) const {
    std::array<float, segments> sums = {};
    for (std::size_t i = 0; i < codes.size() / product_half; ++i) {
      sums[i / 2 % segments] += x.a[r * x.cols / product_half + i] * half(x, r, i);
    }
    return tree(sums) + 0.0f;
  }
};

template <class Format>
int number(std::uint8_t quant) {
  constexpr QuantLayout layout = Format::layout;
  if constexpr (layout.meaning == QuantLayout::Meaning::signed_byte) return static_cast<std::int8_t>(quant);
  if constexpr (layout.meaning == QuantLayout::Meaning::table_index) return Format::values[quant];
  return quant - layout.offset;
}

template <class Format>
Row row_without_numbers() {
  constexpr auto shared = static_cast<std::size_t>(Format::layout.scale_columns);
  static_assert(shared <= product_half);
  return {.shared = shared, .has_min = Format::layout.has_min, .codes = {}, .scales = {}};
}

template <class Format>
Row row_of_file(const std::byte* file, std::size_t cols) {
  constexpr TensorFormat format = Format::format;
  Row row = row_without_numbers<Format>();
  for (std::size_t column = 0; column < cols; column += format.elements, file += format.bytes) {
    QuantBlock block;
    Format::split(reinterpret_cast<const std::uint8_t*>(file), block);
    for (std::size_t j = 0; j < format.elements; ++j) row.codes.push_back(number<Format>(block.quants[j]));
    for (std::size_t part = 0; part < parts_of<Format>; ++part) {
      for (int i = 0; i < Format::layout.scales(); ++i) row.scales.push_back(Format::scale(block, i));
    }
  }
  return row;
}

/// Returns the quant of row `r` of a panel and column `j` of the block at `codes`.
template <int bits>
std::uint8_t packed_quant(const std::uint8_t* codes, std::size_t r, std::size_t j) {
  unsigned quant = 0;
  for (const CodePart& part : code_parts(bits, r, j)) {
    if (part.bits == 0) continue;
    quant |= (static_cast<unsigned>(codes[part.byte]) >> part.shift & ((1U << part.bits) - 1)) << part.first;
  }
  return static_cast<std::uint8_t>(quant);
}

/// Returns a row's scale for the block's columns from `j` on. `words` are the scales of the block,
/// `factors` those of its 256 columns.
QuantScale packed_scale(PanelScales scales, std::array<std::uint32_t, 2> words, std::uint32_t factors,
                        std::size_t j) {
  const auto of_half = [](std::uint32_t bits) { return f16_to_float(static_cast<std::uint16_t>(bits)); };
  const auto of_bits = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const auto byte = [&](std::size_t i) { return words[0] >> 8 * i & 255; };
  const auto signed_byte = [&](std::size_t i) {
    return static_cast<float>(static_cast<std::int8_t>(byte(i)));
  };
  const std::size_t half = j / 32;
  switch (scales) {
    case PanelScales::halves:
      return {of_half(words[0] >> 16 * half)};
    case PanelScales::upper_halves:
      return {of_bits(words[0] >> 16 * half << 16)};
    case PanelScales::halves_and_minima:
      return {of_half(words[0] >> 16 * half), of_half(words[1] >> 16 * half)};
    case PanelScales::small:
      return {of_bits(factors) * signed_byte(half)};
    case PanelScales::small_and_minima:
      return {of_half(factors) * static_cast<float>(byte(half)),
              of_half(factors >> 16) * static_cast<float>(byte(2 + half))};
    case PanelScales::small_of_16:
      return {of_bits(factors) * signed_byte(j / 16)};
    case PanelScales::nibbles_of_16:
      return {of_half(factors) * static_cast<float>(byte(j / 16) & 15),
              of_half(factors >> 16) * static_cast<float>(byte(j / 16) >> 4)};
  }
  return {};
}

/// Returns row `i` of packed weights.
template <class Format>
Row row_of_panels(const PackedWeights& weights, std::size_t i, std::size_t cols) {
  constexpr int bits = Format::layout.bits();
  const PanelFormat format = panel_format(Format::format.type);
  const std::size_t blocks = div_up(cols, 64), panel = i / 16 * blocks, r = i % 16;
  const auto words = static_cast<std::size_t>(scale_words(format.scales));
  Row row = row_without_numbers<Format>();
  row.codes.resize(cols);
  for (std::size_t column = 0; column < cols; ++column) {
    const std::size_t at = panel + column / 64, j = column % 64;
    const std::uint8_t* const codes = weights.codes + at * 128 * std::size_t{bits};
    row.codes[column] = number<Format>(packed_quant<bits>(codes, r, j));
    if (column % row.shared != 0) continue;
    const std::uint32_t* const scales = weights.scales + at * words * 16 + r;
    const std::uint32_t factors = has_factors(format.scales) ? weights.factors[at / 4 * 16 + r] : 0;
    row.scales.push_back(packed_scale(format.scales, {scales[0], words > 1 ? scales[16] : 0}, factors, j));
  }
  return row;
}

/// Computes y = W x; row_of(i, Format()) returns row i.
template <class RowOf>
std::vector<float> product_of(TensorType type, std::size_t rows, const QuantizedRows& x, RowOf row_of) {
  std::vector<float> y(x.n * rows);
  with_format(type, [&]<class Format>(Format format) {
    if constexpr (QuantFormat<Format>) {
      for (std::size_t i = 0; i < rows; ++i) {
        const Row row = row_of(i, format);
        for (std::size_t r = 0; r < x.n; ++r) y[r * rows + i] = row.product(x, r);
      }
    }
  });
  return y;
}

}  // namespace

float sum_as_tree(std::vector<float> numbers) {
  return tree(numbers);
}

std::vector<float> product(TensorType type, std::span<const std::byte> file, std::size_t rows,
                           const QuantizedRows& x) {
  const TensorFormat& format = format_of(type);
  const std::size_t bytes = file.size() / rows, cols = bytes / format.bytes * format.elements;
  return product_of(type, rows, x, [&]<class Format>(std::size_t i, Format) {
    return row_of_file<Format>(file.data() + i * bytes, cols);
  });
}

std::vector<float> product(TensorType type, const PackedWeights& weights, std::size_t rows, std::size_t cols,
                           const QuantizedRows& x) {
  SPECTR_CHECK(has_device_layout(type));
  return product_of(type, rows, x, [&]<class Format>(std::size_t i, Format) {
    return row_of_panels<Format>(weights, i, cols);
  });
}

std::vector<float> float_product(TensorType type, std::span<const std::byte> file, std::size_t rows,
                                 std::span<const float> x, std::size_t n) {
  const std::size_t bytes = file.size() / rows, cols = x.size() / n;
  std::vector<float> y(n * rows), w(cols);
  for (std::size_t i = 0; i < rows; ++i) {
    dequantize(type, file.subspan(i * bytes, bytes), w);
    for (std::size_t r = 0; r < n; ++r) {
      std::vector<float> sums(segments);
      for (std::size_t b = 0; b < div_up(cols, 64); ++b) {
        float t = 0;
        for (std::size_t j = 64 * b; j < std::min(cols, 64 * b + 64); ++j) t += w[j] * x[r * cols + j];
        sums[b % segments] += t;
      }
      y[r * rows + i] = sum_as_tree(std::move(sums)) + 0.0f;
    }
  }
  return y;
}

}  // namespace spectr::twin
