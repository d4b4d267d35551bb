#include "spectr/backend/cpu/kv_store.h"

#include <algorithm>
#include <array>

#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

/// use(keys, values) with numbers of these types.
template <class Use>
void with_numbers(const KvTypes& types, const Use& use) {
  const auto with_keys = [&](auto keys) {
    if (types.values == KvType::f16) {
      use(keys, F16{});
    } else {
      use(keys, float{});
    }
  };
  if (types.keys == KvType::f16) {
    with_keys(F16{});
  } else {
    with_keys(float{});
  }
}

void round(std::span<const float> x, std::span<float> out) {
  std::ranges::copy(x, out.begin());
}
void round(std::span<const float> x, std::span<F16> out) {
  round_to_f16(x, out);
}

}  // namespace

KvLayout::KvLayout(std::span<const Layer> layers, const KvTypes& types)
    : layers_(layers.begin(), layers.end()), types_(types) {
  with_numbers(types, [this]<class K, class V>(K, V) {
    for (const Layer& layer : layers_) {
      starts_.push_back(block_bytes_);
      block_bytes_ += layer.kv_heads * CachedHead<K, V>::block_bytes(layer.head_dim);
    }
  });
}

std::size_t KvLayout::bytes(std::size_t slots) const {
  return div_up(slots, slot_block) * block_bytes_;
}

KvStore::KvStore(const KvLayout& layout, std::size_t slots)
    : layout_(layout), slots_(round_up(slots, slot_block)), pages_(layout.bytes(slots)) {}

template <class Use>
void KvStore::with(std::size_t layer, std::size_t head, Use use) const {
  const std::size_t dim = layout_.layers_[layer].head_dim;
  with_numbers(layout_.types_, [&]<class K, class V>(K, V) {
    const std::size_t at = layout_.starts_[layer] + head * CachedHead<K, V>::block_bytes(dim);
    use(CachedHead<K, V>{pages_.data() + at, layout_.block_bytes_, dim});
  });
}

void KvStore::write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
                    std::span<const float> value) {
  const std::size_t dim = layout_.layers_[layer].head_dim;
  with(layer, head, [&]<class K, class V>(const CachedHead<K, V>& cached) {
    std::array<K, 64> some;
    for (std::size_t begin = 0; begin < dim; begin += some.size()) {
      const std::span rounded = std::span(some).first(std::min(some.size(), dim - begin));
      round(key.subspan(begin, rounded.size()), rounded);
      for (std::size_t j = 0; j < rounded.size(); ++j) cached.key(slot, begin + j) = rounded[j];
    }
    round(value, std::span<V>(cached.value(slot), dim));
  });
}

void KvStore::attend(std::size_t layer, std::size_t head, std::span<const Query> queries, float scale,
                     std::span<float> scratch, ReadFrom from) const {
  with(layer, head, [&]<class K, class V>(const CachedHead<K, V>& cached) {
    spectr::attend(queries, CachedHead<const K, const V>{cached.blocks, cached.apart, cached.dim}, scale,
                   scratch, from);
  });
}

void KvStore::move(std::size_t from, std::size_t to) {
  SPECTR_CHECK(from < slots_ && to < slots_);
  if (from == to) return;
  for (std::size_t layer = 0; layer < layout_.layers_.size(); ++layer) {
    const auto [kv_heads, dim] = layout_.layers_[layer];
    for (std::size_t head = 0; head < kv_heads; ++head) {
      with(layer, head, [&](const auto& cached) {
        for (std::size_t j = 0; j < cached.dim; ++j) cached.key(to, j) = cached.key(from, j);
        std::copy_n(cached.value(from), cached.dim, cached.value(to));
      });
    }
  }
}

}  // namespace spectr
