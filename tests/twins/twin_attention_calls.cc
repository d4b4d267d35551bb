#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "spectr/backend/device/attention_rows.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/gguf/f16.h"
#include "tests/twins/twin_computes.h"

namespace spectr::twin {

void compute(const call::Move& call, Rounding) {
  const auto count = static_cast<std::size_t>(*numbers_at<const int>(call.count, 1));
  const PoolSlot* const moves = numbers_at<const PoolSlot>(call.moves, 2 * count);
  const MoveLine* const lines = numbers_at<const MoveLine>(call.lines, call.line_count);
  for (std::size_t i = 0; i < call.line_count; ++i) {
    const auto place = [&](PoolSlot slot) {
      const auto s = static_cast<std::size_t>(slot);
      const std::size_t word = lines[i].base + s % chunk_slots * lines[i].stride;
      return numbers_at<std::uint32_t>(call.pool.behind(s / chunk_slots * call.block_bytes + 4 * word), 1);
    };
    for (std::size_t m = 0; m < count; ++m) *place(moves[2 * m + 1]) = *place(moves[2 * m]);
  }
}

namespace {

/// The address of a slot's keys and values for one head.
class CachedSlot {
 public:
  CachedSlot(const call::Cache& cache, std::size_t head, PoolSlot slot)
      : types_(cache.types),
        layout_(cache.head()),
        head_(cache.pool.behind(static_cast<std::size_t>(slot / chunk_slots) * cache.block_bytes +
                                cache.layer + head * cache.head_bytes())),
        slot_(slot % chunk_slots) {
    if (layout_.keys_have_values) types_.values = types_.keys;
  }

  float key(int d) const { return load(types_.keys, layout_.key(slot_, d), layout_.key_scale(slot_, d)); }
  float value(int d) const {
    return load(types_.values, layout_.value(slot_, d), layout_.value_scale(slot_, d));
  }
  void store_key(std::span<const float> key) const {
    const auto at = [this](int d) { return std::pair(layout_.key(slot_, d), layout_.key_scale(slot_, d)); };
    store(types_.keys, key, at);
  }
  void store_value(std::span<const float> value) const {
    const auto at = [this](int d) {
      return std::pair(layout_.value(slot_, d), layout_.value_scale(slot_, d));
    };
    store(types_.values, value, at);
  }

 private:
  template <class T>
  T& number(int byte) const {
    return *numbers_at<T>(head_.behind(static_cast<std::size_t>(byte)), 1);
  }

  float load(KvType type, int at, int scale) const {
    if (type == KvType::f32) return number<float>(at);
    if (type == KvType::f16) return f16_to_float(number<std::uint16_t>(at));
    return number<float>(scale) * static_cast<float>(number<std::int8_t>(at));
  }

  /// Stores x; at(d) returns the offsets of number d and of its scale.
  template <class At>
  void store(KvType type, std::span<const float> x, const At& at) const {
    for (std::size_t begin = 0; begin < x.size(); begin += q8_dims) {
      const std::span<const float> some = x.subspan(begin, std::min(q8_dims, x.size() - begin));
      std::array<std::int8_t, q8_dims> quants;
      if (type == KvType::q8_0) {
        number<float>(at(static_cast<int>(begin)).second) =
            round_to_q8(some, std::span(quants).first(some.size()));
      }
      for (std::size_t j = 0; j < round_up(some.size(), 4); ++j) {  // pads the last four with zeros
        const bool is_there = j < some.size();
        const float one = is_there ? some[j] : 0.0f;
        const int to = at(static_cast<int>(begin + j)).first;
        if (type == KvType::f32) {
          number<float>(to) = one;
        } else if (type == KvType::f16) {
          number<std::uint16_t>(to) = round_to_f16(one).bits;
        } else {
          number<std::int8_t>(to) = is_there ? quants[j] : std::int8_t{0};
        }
      }
    }
  }

  KvTypes types_;
  HeadLayout layout_;
  Slice head_;
  int slot_;
};

}  // namespace

void compute(const call::Rope& call, Rounding) {
  const std::size_t dim = call.cache.dim, half = call.dims / 2;
  const auto rotate = [&](std::size_t r, std::span<float> head) {
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
      rotate(r, head);
      for (float& x : head) x *= scale;
      std::ranges::copy(head, row(call.rotated, r, call.heads * dim).subspan(h * dim).begin());
    }
    if (!call.k.at) continue;
    const PoolSlot to = numbers_at<const PoolSlot>(call.written, call.rows)[r];
    for (std::size_t h = 0; h < call.cache.kv_heads; ++h) {
      std::ranges::copy(row(call.k, r, call.cache.kv_heads * dim).subspan(h * dim, dim), head.begin());
      rotate(r, head);
      const CachedSlot cached(call.cache, h, to);
      cached.store_key(head);
      if (call.v.at) cached.store_value(row(call.v, r, call.cache.kv_heads * dim).subspan(h * dim, dim));
    }
  }
}

void compute(const call::Attend& call, Rounding rounding) {
  const std::size_t dim = call.cache.dim, group = call.heads / call.cache.kv_heads;
  const std::size_t numbers = call::part_numbers(call.cache.values());
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
        const CachedSlot cached(call.cache, h, slot);
        for (std::size_t d = 0; d < dim; ++d) keys.push_back(cached.key(static_cast<int>(d)));
        for (std::size_t d = 0; d < call.cache.values(); ++d)
          values.push_back(cached.value(static_cast<int>(d)));
      }
      for (std::size_t i = 0; i < rows * group; ++i) {  // the queries of a row's heads are adjacent
        const std::size_t r = static_cast<std::size_t>(item.row) + i / group, head = h * group + i % group;
        const AttendedChunk chunk = attend_to_chunk(row(call.q, r, call.heads * dim).subspan(head * dim, dim),
                                                    keys, values, call.cap, rounding);
        const std::size_t at = static_cast<std::size_t>(item.part) * call.heads + h * rows * group + i;
        float* const out = numbers_at<float>(call.parts.behind(at * numbers * sizeof(float)), numbers);
        std::ranges::copy(chunk.values, out);
        out[numbers - 4] = chunk.most;
        out[numbers - 3] = chunk.sum;
      }
    }
  }
}

void compute(const call::Merge& call, Rounding rounding) {
  const std::size_t dim = call.dim, group = call.heads / call.kv_heads;
  const std::size_t numbers = call::part_numbers(dim);
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
            numbers_at<const float>(call.parts.behind(at * numbers * sizeof(float)), numbers);
        chunks.push_back({in[numbers - 4], in[numbers - 3], std::vector<float>(in, in + dim)});
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
