#include "spectr/backend/device/twin_calls.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/twins.h"
#include "spectr/backend/device/weight_panels.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/f16.h"
#include "spectr/gguf/tensor_type.h"

namespace spectr::twin {

namespace {
constexpr std::align_val_t alignment{256};
}  // namespace

HostMemory::HostMemory(std::size_t bytes)
    : DeviceMemory(bytes),
      data_(static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), alignment))) {
  std::memset(data_, 0xFF, bytes);  // a number that nobody wrote is a NaN
}

HostMemory::~HostMemory() {
  ::operator delete(data_, alignment);
}

namespace {

std::span<float> row(const call::Rows& rows, std::size_t r, std::size_t cols) {
  return {numbers_at<float>(rows.at.behind(r * rows.stride * sizeof(float)), cols), cols};
}

std::span<const float> vector(const Slice& slice, std::size_t size) {
  return slice ? std::span<const float>(numbers_at<const float>(slice, size), size)
               : std::span<const float>();
}

template <class Kind>
void quantize_rows(const Kind& call, const call::Rows& in) {
  const call::QuantizedRows& out = call.quantized;
  if (!out.at) return;
  const QuantizedLayout& layout = out.layout;
  SPECTR_CHECK(out.at.offset + layout.bytes() <= out.at.memory->bytes());
  for (std::size_t slab = 0; slab < layout.slabs(); ++slab) {
    std::vector<float> x;
    for (std::size_t r = 0; r < layout.rows_of(slab); ++r) {
      const std::span<const float> one = row(in, slab * QuantizedLayout::slab_rows + r, layout.cols);
      x.insert(x.end(), one.begin(), one.end());
    }
    const ArrangedRows arranged = arrange(quantize(x, layout.rows_of(slab)), layout.tiles());
    std::ranges::copy(arranged.codes, numbers_at<std::uint32_t>(out.at.behind(layout.codes_of(slab))));
    std::ranges::copy(arranged.scales, numbers_at<float>(out.at.behind(layout.scales_of(slab))));
    std::ranges::copy(arranged.sums, numbers_at<float>(out.at.behind(layout.sums_of(slab))));
  }
}

void run(const call::Move& call, Rounding) {
  const auto count = static_cast<std::size_t>(*numbers_at<const int>(call.count, 1));
  const PoolSlot* const moves = numbers_at<const PoolSlot>(call.moves, 2 * count);
  const MoveLine* const lines = numbers_at<const MoveLine>(call.lines, call.line_count);
  for (std::size_t i = 0; i < call.line_count; ++i) {
    const auto place = [&](PoolSlot slot) {
      const auto s = static_cast<std::size_t>(slot);
      const std::size_t number = lines[i].base + s % chunk_slots * lines[i].stride;
      return numbers_at<std::byte>(
          call.pool.behind(s / chunk_slots * call.block_bytes + number * call.number_bytes),
          4 * call.number_bytes);
    };
    for (std::size_t m = 0; m < count; ++m)
      std::memmove(place(moves[2 * m + 1]), place(moves[2 * m]), 4 * call.number_bytes);
  }
}

void run(const call::Copy& call, Rounding) {
  for (std::size_t r = 0; r < call.rows; ++r)
    std::ranges::copy(row(call.from, r, call.cols), row(call.to, r, call.cols).begin());
}

void run(const call::Add& call, Rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<float> to = row(call.to, r, call.cols), from = row(call.from, r, call.cols);
    for (std::size_t j = 0; j < call.cols; ++j) to[j] += from[j];
  }
}

void run(const call::Scale& call, Rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    for (float& x : row(call.x, r, call.cols)) x *= call.factor;
  }
}

void run(const call::Cap& call, Rounding rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    for (float& x : row(call.x, r, call.cols)) x = soft_cap(x, call.cap, rounding);
  }
}

void run(const call::Gate& call, Rounding rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<float> x = row(call.x, r, call.cols), by = row(call.by, r, call.gates);
    for (std::size_t j = 0; j < call.cols; ++j) x[j] *= sigmoid(by[call.gates == 1 ? 0 : j], rounding);
  }
}

void run(const call::Norm& call, Rounding) {
  const std::span<const float> weight = vector(call.weight, call.cols), bias = vector(call.bias, call.cols);
  const bool is_rms = call.kind == NormSpec::Kind::rms;
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::size_t from =
        call.picked ? static_cast<std::size_t>(numbers_at<const int>(call.picked, call.rows)[r]) : r;
    const std::span<float> in = row(call.in, from, call.groups * call.cols);
    const std::span<float> out = row(call.out, r, call.groups * call.cols);
    if (call.added.at) {
      const std::span<const float> added = row(call.added, r, call.groups * call.cols);
      for (std::size_t j = 0; j < in.size(); ++j) in[j] += added[j];
    }
    for (std::size_t g = 0; g < call.groups; ++g) {
      const std::span<const float> x = in.subspan(g * call.cols, call.cols);
      const std::vector<float> y =
          is_rms ? rms_norm(x, weight, call.epsilon) : layer_norm(x, weight, bias, call.epsilon);
      std::ranges::copy(y, out.subspan(g * call.cols).begin());
    }
  }
  quantize_rows(call, call.out);
}

void run(const call::Quantize& call, Rounding) {
  quantize_rows(call, call.in);
}

void copy_product(const std::vector<float>& y, const call::Rows& to, std::size_t first, std::size_t n) {
  const std::size_t cols = y.size() / n;
  for (std::size_t r = 0; r < n; ++r)
    std::ranges::copy(std::span(y).subspan(r * cols, cols), row(to, first + r, cols).begin());
}

std::span<const std::byte> file_bytes(const call::Weights& weights) {
  const std::size_t size =
      weights.rows * weights.cols / format_of(weights.type).elements * format_of(weights.type).bytes;
  return {numbers_at<const std::byte>(weights.codes, size), size};
}

void run(const call::Product& call, Rounding) {
  const call::Weights& w = call.weights;
  const QuantizedLayout& layout = call.x.layout;
  for (std::size_t slab = 0; slab < layout.slabs(); ++slab) {
    const std::size_t n = layout.rows_of(slab), tiles = layout.blocks() * layout.tiles();
    const QuantizedRows x = take_apart(
        {numbers_at<const std::uint32_t>(call.x.at.behind(layout.codes_of(slab)), tiles * 128), tiles * 128},
        {numbers_at<const float>(call.x.at.behind(layout.scales_of(slab)), tiles * 16), tiles * 16}, n,
        layout.tiles());
    std::vector<float> y;
    if (has_device_layout(w.type)) {
      const PackedWeights packed{numbers_at<const std::uint8_t>(w.codes),
                                 numbers_at<const std::uint32_t>(w.scales),
                                 w.factors ? numbers_at<const std::uint32_t>(w.factors) : nullptr};
      y = product(w.type, packed, w.rows, w.cols, x);
    } else {
      y = product(w.type, file_bytes(w), w.rows, x);
    }
    copy_product(y, call.y, slab * QuantizedLayout::slab_rows, n);
  }
}

void run(const call::FloatProduct& call, Rounding) {
  std::vector<float> x;
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<const float> one = row(call.x, r, call.weights.cols);
    x.insert(x.end(), one.begin(), one.end());
  }
  copy_product(float_product(call.weights.type, file_bytes(call.weights), call.weights.rows, x, call.rows),
               call.y, 0, call.rows);
}

/// A number of a cache.
Slice place_in(const call::Cache& cache, std::size_t head, PoolSlot slot, std::size_t d, bool is_key) {
  const std::size_t block = static_cast<std::size_t>(slot) / chunk_slots,
                    s = static_cast<std::size_t>(slot) % chunk_slots;
  const std::size_t number = is_key ? (d / 4 * 64 + s) * 4 + d % 4 : 64 * cache.dim + s * cache.dim + d;
  return cache.pool.behind(block * cache.block_bytes + cache.layer + head * cache.head_bytes() +
                           number * call::number_bytes(cache.type));
}

float load(const call::Cache& cache, const Slice& from) {
  return cache.type == KvType::f16 ? f16_to_float(*numbers_at<const std::uint16_t>(from, 1))
                                   : *numbers_at<const float>(from, 1);
}

void store(const call::Cache& cache, const Slice& to, float number) {
  if (cache.type == KvType::f16) {
    *numbers_at<std::uint16_t>(to, 1) = round_to_f16(number).bits;
  } else {
    *numbers_at<float>(to, 1) = number;
  }
}

void run(const call::Turn& call, Rounding) {
  const std::size_t dim = call.cache.dim, half = call.dims / 2;
  const auto turn = [&](std::size_t r, std::span<float> head) {
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t a = call.first + (call.interleaved ? 2 * i : i),
                        b = call.interleaved ? a + 1 : a + half;
      const float* const angle =
          numbers_at<const float>(call.angles, call.rows * call.dims) + 2 * (r * half + i);
      const float x = head[a], y = head[b];
      head[a] = x * angle[0] - y * angle[1];
      head[b] = x * angle[1] + y * angle[0];
    }
  };
  std::vector<float> head(dim);
  for (std::size_t r = 0; r < call.rows; ++r) {
    const float scale = call.scales ? numbers_at<const float>(call.scales, call.rows)[r] : call.scale;
    for (std::size_t h = 0; h < call.heads; ++h) {
      std::ranges::copy(row(call.q, r, call.heads * dim).subspan(h * dim, dim), head.begin());
      turn(r, head);
      for (float& x : head) x *= scale;
      std::ranges::copy(head, row(call.turned, r, call.heads * dim).subspan(h * dim).begin());
    }
    if (!call.k.at) continue;
    const PoolSlot to = numbers_at<const PoolSlot>(call.written, call.rows)[r];
    for (std::size_t h = 0; h < call.cache.kv_heads; ++h) {
      std::ranges::copy(row(call.k, r, call.cache.kv_heads * dim).subspan(h * dim, dim), head.begin());
      turn(r, head);
      const std::span<const float> value = row(call.v, r, call.cache.kv_heads * dim).subspan(h * dim, dim);
      for (std::size_t d = 0; d < dim; ++d) {
        store(call.cache, place_in(call.cache, h, to, d, true), head[d]);
        store(call.cache, place_in(call.cache, h, to, d, false), value[d]);
      }
    }
  }
}

void run(const call::Attend& call, Rounding rounding) {
  const std::size_t dim = call.cache.dim, group = call.heads / call.cache.kv_heads;
  const std::span items(numbers_at<const AttentionItem>(call.items, call.item_count), call.item_count);
  for (const AttentionItem& item : items) {
    const auto rows = static_cast<std::size_t>(item.rows), present = static_cast<std::size_t>(item.present);
    if (rows == 0) continue;
    for (std::size_t h = 0; h < call.cache.kv_heads; ++h) {
      std::vector<float> keys, values;
      for (std::size_t i = 0; i < present; ++i) {
        const PoolSlot slot =
            item.block >= 0
                ? item.block * chunk_slots + static_cast<int>(i)
                : numbers_at<const PoolSlot>(call.listed)[static_cast<std::size_t>(item.list) + i];
        for (std::size_t d = 0; d < dim; ++d) {
          keys.push_back(load(call.cache, place_in(call.cache, h, slot, d, true)));
          values.push_back(load(call.cache, place_in(call.cache, h, slot, d, false)));
        }
      }
      for (std::size_t i = 0; i < rows * group; ++i) {  // the queries of a row's heads lie together
        const std::size_t r = static_cast<std::size_t>(item.row) + i / group, head = h * group + i % group;
        const AttendedChunk chunk = attend_to_chunk(row(call.q, r, call.heads * dim).subspan(head * dim, dim),
                                                    keys, values, call.cap, rounding);
        const std::size_t at = static_cast<std::size_t>(item.part) * call.heads + h * rows * group + i;
        float* const out = numbers_at<float>(call.parts.behind(at * (dim + 4) * sizeof(float)), dim + 4);
        std::ranges::copy(chunk.values, out);
        out[dim] = chunk.most;
        out[dim + 1] = chunk.sum;
      }
    }
  }
}

void run(const call::Merge& call, Rounding rounding) {
  const std::size_t dim = call.dim, group = call.heads / call.kv_heads;
  for (std::size_t r = 0; r < call.rows; ++r) {
    const AttentionRow& of = numbers_at<const AttentionRow>(call.plan, call.rows)[r];
    for (std::size_t h = 0; h < call.heads; ++h) {
      std::vector<AttendedChunk> chunks;
      for (int c = 0; c < of.chunks; ++c) {
        const auto rows = static_cast<std::size_t>(of.rows_of(c)),
                   part = static_cast<std::size_t>(of.part_of(c)),
                   place = static_cast<std::size_t>(of.place_of(c));
        const std::size_t at = part * call.heads + h / group * rows * group + place * group + h % group;
        const float* const in =
            numbers_at<const float>(call.parts.behind(at * (dim + 4) * sizeof(float)), dim + 4);
        chunks.push_back({in[dim], in[dim + 1], std::vector<float>(in, in + dim)});
      }
      std::optional<float> sink;
      if (call.sinks) sink = numbers_at<const float>(call.sinks, call.heads)[h];
      std::ranges::copy(merge(chunks, sink, rounding),
                        row(call.out, r, call.heads * dim).subspan(h * dim).begin());
    }
  }
  quantize_rows(call, call.out);
}

void run(const call::Activate& call, Rounding rounding) {
  for (std::size_t r = 0; r < call.rows; ++r) {
    const std::span<const float> up = row(call.up, r, call.cols);
    const std::span<float> out = row(call.out, r, call.cols);
    for (std::size_t j = 0; j < call.cols; ++j) {
      out[j] = call.has_gate
                   ? activate(call.activation, call.clamp, row(call.gate, r, call.cols)[j], up[j], rounding)
                   : activate(call.activation, call.clamp, up[j], 1.0f, rounding);
    }
  }
  quantize_rows(call, call.out);
}

void run(const call::Top& call, Rounding) {
  const std::span<const float> all = vector(call.row, call.size);
  // NaN and infinity before all others.
  const auto key = [&](std::int32_t token) {
    const float x = all[static_cast<std::size_t>(token)];
    return x < std::numeric_limits<float>::infinity() ? x : std::numeric_limits<float>::infinity();
  };
  std::vector<std::int32_t> tokens;
  for (std::size_t first = 0; first < call.size; first += call::segment) {
    tokens.clear();
    for (std::size_t i = first; i < std::min(call.size, first + call::segment); ++i)
      tokens.push_back(static_cast<std::int32_t>(i));
    std::ranges::sort(
        tokens, [&](std::int32_t a, std::int32_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
    call::Best* const out =
        numbers_at<call::Best>(call.out.behind(first / call::segment * call.k * sizeof(call::Best)), call.k);
    for (std::size_t i = 0; i < call.k; ++i) {
      out[i] = i < tokens.size() ? call::Best{all[static_cast<std::size_t>(tokens[i])], tokens[i]}
                                 : call::Best{0, -1};
    }
  }
}

void run(const call::SumExp& call, Rounding rounding) {
  const std::span<const float> all = vector(call.row, call.size);
  for (std::size_t first = 0; first < call.size; first += call::segment) {
    const std::span<const float> x = all.subspan(first, std::min(call::segment, call.size - first));
    float most = -std::numeric_limits<float>::infinity();
    for (const float one : x) most = std::fmax(most, one);
    std::vector<float> terms(call::segment);
    for (std::size_t i = 0; i < x.size(); ++i) {
      // Nothing of what is −∞, even where all is.
      terms[i] = x[i] == -std::numeric_limits<float>::infinity()
                     ? 0.0f
                     : exp_of_negative(call.factor * (x[i] - most), rounding);
    }
    float* const out = numbers_at<float>(call.out.behind(first / call::segment * 2 * sizeof(float)), 2);
    out[0] = most;
    out[1] = sum_as_tree(std::move(terms));
  }
}

}  // namespace

void run(const call::AnyCall& call, Rounding rounding) {
  std::visit([rounding](const auto& one) { run(one, rounding); }, call.get());
}

}  // namespace spectr::twin
