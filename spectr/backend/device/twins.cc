#include "spectr/backend/device/twins.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/f16.h"
#include "spectr/gguf/quant/formats.h"

namespace spectr::twin {
namespace {

constexpr float large = 12582912.0f;  // 1.5 · 2²³: adding it rounds to an integer
constexpr std::size_t half_columns = 32, segments = 32, chunk = 64;

std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

}  // namespace

float exp_of_negative(float x) {
  const float shifted = std::fma(x, 1.44269504f, large), n = shifted - large;
  const float r = std::fma(n, 2.12194440e-4f, std::fma(n, -0.693359375f, x));
  float p = 1.9875691500e-4f;
  for (const float next :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) {
    p = std::fma(p, r, next);
  }
  const float y = std::fma(p, r * r, r) + 1.0f;
  return x < -87.0f ? 0.0f : std::bit_cast<float>(bits_of(y) + (bits_of(shifted) << 23));
}

float silu(float x) {
  const float e = exp_of_negative(x < 0 ? x : -x);
  return x * (x < 0 ? e : 1.0f) / (1.0f + e);
}

int QuantizedRows::sum(std::size_t r, std::size_t half) const {
  int sum = 0;
  for (std::size_t j = 0; j < half_columns; ++j) sum += q[r * cols + half * half_columns + j];
  return sum;
}

QuantizedRows quantize(std::span<const float> x, std::size_t n) {
  const std::size_t width = x.size() / n, cols = round_up(width, 64);
  QuantizedRows rows{.n = n,
                     .cols = cols,
                     .q = std::vector<std::int8_t>(n * cols),
                     .a = std::vector<float>(n * cols / half_columns)};
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t half = 0; half < width / half_columns; ++half) {
      const float* const v = x.data() + r * width + half * half_columns;
      std::uint32_t top = 0;
      for (std::size_t j = 0; j < half_columns; ++j) top = std::max(top, bits_of(v[j]) & 0x7fffffffu);
      const auto max = std::bit_cast<float>(top);
      const bool nothing = max < 1e-30f;
      const float reciprocal = nothing ? 0.0f : 127.0f / max;
      rows.a[r * cols / half_columns + half] = nothing ? 0.0f : max / 127.0f;
      for (std::size_t j = 0; j < half_columns; ++j) {
        rows.q[r * cols + half * half_columns + j] =
            static_cast<std::int8_t>(bits_of(v[j] * reciprocal + large));
      }
    }
  }
  return rows;
}

ArrangedRows arrange(const QuantizedRows& rows, std::size_t tiles, std::uint32_t fill) {
  const std::size_t blocks = rows.cols / 64;
  ArrangedRows to{.codes = std::vector<std::uint32_t>(blocks * tiles * 128, fill),
                  .scales = std::vector<float>(blocks * tiles * 16, std::bit_cast<float>(fill)),
                  .sums = std::vector<float>(blocks * tiles * 16, std::bit_cast<float>(fill))};
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t r = 0; r < rows.n; ++r) {
      const std::size_t tile = b * tiles + r / 8, g = r % 8;
      for (std::size_t word = 0; word < 16; ++word) {
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 4; ++j) {
          const auto byte = static_cast<std::uint8_t>(rows.q[r * rows.cols + 64 * b + 4 * word + j]);
          bits |= std::uint32_t{byte} << 8 * j;
        }
        to.codes[tile * 128 + (4 * g + word % 4) * 4 + word / 4] = bits;
      }
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t at = tile * 16 + g / 2 * 4 + half * 2 + g % 2;
        to.scales[at] = rows.a[r * rows.cols / half_columns + 2 * b + half];
        to.sums[at] = static_cast<float>(rows.sum(r, 2 * b + half));
      }
    }
  }
  return to;
}

float sum_as_tree(std::vector<float> numbers) {
  SPECTR_CHECK(std::has_single_bit(numbers.size()));
  for (std::size_t h = 1; h < numbers.size(); h *= 2) {
    for (std::size_t i = 0; i < numbers.size(); i += 2 * h) numbers[i] += numbers[i + h];
  }
  return numbers[0];
}

namespace {

/// A row of W, taken apart: what its quants stand for, and what shares a scale.
template <class Format>
struct Row {
  std::vector<int> codes;
  std::vector<QuantScale> scales;

  Row(const std::byte* file, std::size_t cols) {
    constexpr QuantLayout layout = Format::layout;
    constexpr TensorFormat format = Format::format;
    for (std::size_t column = 0; column < cols; column += format.elements, file += format.bytes) {
      QuantBlock block;
      Format::split(reinterpret_cast<const std::uint8_t*>(file), block);
      for (std::size_t j = 0; j < format.elements; ++j) codes.push_back(number(block.quants[j]));
      for (std::size_t part = 0; part < parts_of<Format>; ++part) {
        for (int i = 0; i < layout.scales(); ++i) scales.push_back(Format::scale(block, i));
      }
    }
  }

  static int number(std::uint8_t quant) {
    constexpr QuantLayout layout = Format::layout;
    if constexpr (layout.meaning == QuantLayout::Meaning::signed_byte) return static_cast<std::int8_t>(quant);
    if constexpr (layout.meaning == QuantLayout::Meaning::table_index) return Format::values[quant];
    return quant - layout.offset;
  }

  /// t(b, h) with row r of x.
  float half(const QuantizedRows& x, std::size_t r, std::size_t half) const {
    constexpr auto shared = static_cast<std::size_t>(Format::layout.scale_columns);
    static_assert(shared <= half_columns);
    float t = 0;
    for (std::size_t i = 0; i < half_columns; i += shared) {
      const std::size_t first = half * half_columns + i;
      int products = 0, sum = 0;
      for (std::size_t j = first; j < first + shared; ++j) {
        products += codes[j] * x.q[r * x.cols + j];
        sum += x.q[r * x.cols + j];
      }
      const QuantScale& scale = scales[first / shared];
      const float part = scale.factor * static_cast<float>(products);
      t = i == 0 ? part : t + part;
      if constexpr (Format::layout.has_min) t = t - scale.min * static_cast<float>(sum);
    }
    return t;
  }
};

template <class Format>
std::vector<float> product_of(std::span<const std::byte> file, std::size_t rows, const QuantizedRows& x) {
  constexpr TensorFormat format = Format::format;
  const std::size_t bytes = file.size() / rows, cols = bytes / format.bytes * format.elements;
  std::vector<float> y(x.n * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const Row<Format> row(file.data() + i * bytes, cols);
    for (std::size_t r = 0; r < x.n; ++r) {
      std::vector<float> sums(segments);
      for (std::size_t half = 0; half < cols / half_columns; ++half) {
        sums[half / 2 % segments] += x.a[r * x.cols / half_columns + half] * row.half(x, r, half);
      }
      y[r * rows + i] = sum_as_tree(std::move(sums)) + 0.0f;
    }
  }
  return y;
}

}  // namespace

std::vector<float> product(TensorType type, std::span<const std::byte> file, std::size_t rows,
                           const QuantizedRows& x) {
  std::vector<float> y;
  with_format(type, [&](auto format) {
    if constexpr (QuantFormat<decltype(format)>) y = product_of<decltype(format)>(file, rows, x);
  });
  return y;
}

std::vector<float> rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon) {
  // 512 threads have four columns each of every 2048.
  std::vector<float> squares(512);
  for (std::size_t i = 0; i < x.size(); i += 4) {
    const float low = x[i] * x[i] + x[i + 1] * x[i + 1], high = x[i + 2] * x[i + 2] + x[i + 3] * x[i + 3];
    squares[i / 4 % 512] += low + high;
  }
  const float mean = sum_as_tree(std::move(squares)) * (1.0f / static_cast<float>(x.size()));
  const float factor = 1.0f / std::sqrt(mean + epsilon);
  std::vector<float> out(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) out[j] = x[j] * factor * weight[j];
  return out;
}

namespace {

/// What a chunk gives: the largest score, Σ weights, Σ weights · values.
struct Chunk {
  float most, sum;
  std::vector<float> values;
};

Chunk attend_to_chunk(std::span<const float> q, const AttendedSlots& slots, std::size_t first) {
  const std::size_t dim = slots.dim, count = std::min(chunk, slots.keys.size() / dim - first);
  Chunk out{.most = -std::numeric_limits<float>::infinity(), .sum = 0, .values = std::vector<float>(dim)};
  std::array<float, chunk> weights;
  weights.fill(-std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < count; ++i) {
    float score = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      score = std::fma(q[d], f16_to_float(slots.keys[(first + i) * dim + d]), score);
    }
    weights[i] = score;
    out.most = std::fmax(out.most, score);
  }
  for (float& weight : weights) weight = exp_of_negative(weight - out.most);
  std::vector<float> pairs(chunk / 2);  // a lane's two slots, then the lanes
  for (std::size_t i = 0; i < chunk / 2; ++i) pairs[i] = weights[i] + weights[i + chunk / 2];
  out.sum = sum_as_tree(std::move(pairs));
  for (std::size_t i = 0; i < chunk; ++i) {
    for (std::size_t d = 0; d < dim; ++d) {
      const float value = i < count ? f16_to_float(slots.values[(first + i) * dim + d]) : 0.0f;
      out.values[d] = std::fma(weights[i], value, out.values[d]);
    }
  }
  return out;
}

}  // namespace

std::vector<float> attend(std::span<const float> q, const AttendedSlots& slots) {
  std::vector<Chunk> chunks;
  for (std::size_t first = 0; first < slots.keys.size() / slots.dim; first += chunk) {
    chunks.push_back(attend_to_chunk(q, slots, first));
  }
  float most = -std::numeric_limits<float>::infinity();
  for (const Chunk& one : chunks) most = std::fmax(most, one.most);
  constexpr std::size_t running = 8;
  std::vector<float> sums(running), out(slots.dim);
  std::vector<std::vector<float>> values(slots.dim, sums);
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const float factor = exp_of_negative(chunks[c].most - most);
    float& sum = sums[c % running];
    sum = std::fma(factor, chunks[c].sum, sum);
    for (std::size_t d = 0; d < slots.dim; ++d) {
      float& value = values[d][c % running];
      value = std::fma(factor, chunks[c].values[d], value);
    }
  }
  const float factor = 1.0f / sum_as_tree(std::move(sums));
  for (std::size_t d = 0; d < slots.dim; ++d) out[d] = sum_as_tree(std::move(values[d])) * factor;
  return out;
}

}  // namespace spectr::twin
