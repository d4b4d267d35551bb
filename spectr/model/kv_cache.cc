#include "spectr/model/kv_cache.h"

#include <algorithm>
#include <array>

#include "spectr/base/check.h"
#include "spectr/kernels/vector_ops.h"

namespace spectr {
namespace {

std::size_t whole_groups(std::size_t slots) {
  return (slots + key_group - 1) / key_group * key_group;
}

}  // namespace

KvCache::AnyTables KvCache::tables(CacheNumbers numbers, std::size_t count) {
  if (numbers == CacheNumbers::halves) return Tables<Half>(count);
  return Tables<float>(count);
}

std::size_t KvCache::bytes(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim,
                           CacheNumbers numbers) {
  const std::size_t number = numbers == CacheNumbers::halves ? sizeof(Half) : sizeof(float);
  return 2 * layers * kv_heads * whole_groups(slots) * head_dim * number;
}

KvCache::KvCache(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim,
                 CacheNumbers numbers)
    : layers_(layers),
      kv_heads_(kv_heads),
      slots_(whole_groups(slots)),
      head_dim_(head_dim),
      tables_(tables(numbers, offset(layers, 0))) {}

std::size_t KvCache::row_bytes() const {
  return std::visit([&](const auto& tables) { return head_dim_ * sizeof(*tables.keys.from(0)); }, tables_);
}

void KvCache::write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
                    std::span<const float> value) {
  const std::size_t at = offset(layer, head), value_at = at + slot * head_dim_;
  const auto put_key = [&](auto* keys, std::size_t begin, auto numbers) {
    for (std::size_t j = 0; j < numbers.size(); ++j) keys[key_place(slot, begin + j, head_dim_)] = numbers[j];
  };
  if (const auto* const halves = std::get_if<Tables<Half>>(&tables_)) {
    std::array<Half, 64> some;
    for (std::size_t begin = 0; begin < head_dim_; begin += some.size()) {
      const std::span rounded = std::span(some).first(std::min(some.size(), head_dim_ - begin));
      nearest_halves(key.subspan(begin, rounded.size()), rounded);
      put_key(halves->keys.from(at), begin, rounded);
    }
    nearest_halves(value, {halves->values.from(value_at), head_dim_});
  } else {
    const auto& floats = std::get<Tables<float>>(tables_);
    put_key(floats.keys.from(at), 0, key);
    std::ranges::copy(value, floats.values.from(value_at));
  }
}

void KvCache::attend(std::size_t layer, std::size_t head, std::span<const Query> queries, float scale,
                     std::span<float> scratch) const {
  const std::size_t at = offset(layer, head);
  std::visit(
      [&](const auto& tables) {
        spectr::attend(queries, head_dim_, tables.keys.from(at), tables.values.from(at), scale, scratch);
      },
      tables_);
}

void KvCache::move(std::size_t from, std::size_t to) {
  SPECTR_CHECK(from < slots_ && to < slots_);
  if (from == to) return;
  const auto move_all = [&](const auto& tables) {
    for (std::size_t at = 0; at < offset(layers_, 0); at += slots_ * head_dim_) {
      auto* const keys = tables.keys.from(at);
      for (std::size_t j = 0; j < head_dim_; ++j) {
        keys[key_place(to, j, head_dim_)] = keys[key_place(from, j, head_dim_)];
      }
      auto* const values = tables.values.from(at);
      std::copy_n(values + from * head_dim_, head_dim_, values + to * head_dim_);
    }
  };
  std::visit(move_all, tables_);
}

}  // namespace spectr
