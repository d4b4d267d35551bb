#include "spectr/model/kv_cache.h"

#include <algorithm>
#include <array>

#include "spectr/base/check.h"
#include "spectr/base/rounding.h"
#include "spectr/kernels/vector_ops.h"

namespace spectr {
namespace {

std::size_t whole_blocks(std::size_t slots) {
  return round_up(slots, slot_block);
}

std::size_t size_of(CacheNumbers numbers) {
  return numbers == CacheNumbers::halves ? sizeof(Half) : sizeof(float);
}

void round(std::span<const float> x, std::span<float> out) {
  std::ranges::copy(x, out.begin());
}
void round(std::span<const float> x, std::span<Half> out) {
  nearest_halves(x, out);
}

}  // namespace

std::size_t KvCache::bytes(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim,
                           CacheNumbers numbers) {
  return 2 * layers * kv_heads * whole_blocks(slots) * head_dim * size_of(numbers);
}

KvCache::KvCache(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim,
                 CacheNumbers numbers)
    : layers_(layers),
      kv_heads_(kv_heads),
      slots_(whole_blocks(slots)),
      head_dim_(head_dim),
      numbers_(numbers),
      pages_(bytes(layers, kv_heads, slots, head_dim, numbers)) {}

std::size_t KvCache::row_bytes() const {
  return head_dim_ * size_of(numbers_);
}

template <class Use>
void KvCache::with(std::size_t layer, std::size_t head, Use use) const {
  const std::size_t numbers = block_numbers(head_dim_), at = (layer * kv_heads_ + head) * numbers;
  const auto cached = [&]<class T>(T* all) {
    return CachedHead<T>{all + at, layers_ * kv_heads_ * numbers, head_dim_};
  };
  if (numbers_ == CacheNumbers::halves) {
    use(cached(reinterpret_cast<Half*>(pages_.data())));
  } else {
    use(cached(reinterpret_cast<float*>(pages_.data())));
  }
}

void KvCache::write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
                    std::span<const float> value) {
  with(layer, head, [&]<class T>(const CachedHead<T>& cached) {
    std::array<T, 64> some;
    for (std::size_t begin = 0; begin < head_dim_; begin += some.size()) {
      const std::span rounded = std::span(some).first(std::min(some.size(), head_dim_ - begin));
      round(key.subspan(begin, rounded.size()), rounded);
      for (std::size_t j = 0; j < rounded.size(); ++j) cached.key(slot, begin + j) = rounded[j];
    }
    round(value, {cached.value(slot), head_dim_});
  });
}

void KvCache::attend(std::size_t layer, std::size_t head, std::span<const Query> queries, float scale,
                     std::span<float> scratch, ReadFrom from) const {
  with(layer, head, [&]<class T>(const CachedHead<T>& cached) {
    spectr::attend(queries, CachedHead<const T>{cached.blocks, cached.apart, cached.dim}, scale, scratch,
                   from);
  });
}

void KvCache::move(std::size_t from, std::size_t to) {
  SPECTR_CHECK(from < slots_ && to < slots_);
  if (from == to) return;
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    for (std::size_t head = 0; head < kv_heads_; ++head) {
      with(layer, head, [&](const auto& cached) {
        for (std::size_t j = 0; j < head_dim_; ++j) cached.key(to, j) = cached.key(from, j);
        std::copy_n(cached.value(from), head_dim_, cached.value(to));
      });
    }
  }
}

}  // namespace spectr
