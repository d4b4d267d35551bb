#include <cstring>
#include <optional>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/device/twin_computes.h"
#include "spectr/base/check.h"
#include "spectr/gguf/f16.h"

namespace spectr::twin {

void compute(const call::Move& call, Rounding) {
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

namespace {

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

}  // namespace

void compute(const call::Turn& call, Rounding) {
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

void compute(const call::Attend& call, Rounding rounding) {
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

void compute(const call::Merge& call, Rounding rounding) {
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
  quantize_rows(call.out, call.quantized);
}

}  // namespace spectr::twin
