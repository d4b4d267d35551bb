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
      auto group = std::ranges::find(groups_, layer.window, &Group::window);
      if (group == groups_.end()) group = groups_.insert(group, {layer.window, 0});
      places_.push_back({static_cast<std::size_t>(group - groups_.begin()), group->block_bytes});
      group->block_bytes += layer.kv_heads * CachedHead<K, V>::block_bytes(layer.head_dim);
    }
  });
}

std::size_t KvLayout::Group::blocks(const CacheSize& size) const {
  const bool keeps_all = window == 0 || size.kept >= size.slots || window >= size.slots - size.kept;
  return div_up(keeps_all ? size.slots : window + size.kept, slot_block);
}

std::size_t KvLayout::bytes(const CacheSize& size) const {
  std::size_t sum = 0;
  for (const Group& group : groups_) sum += group.blocks(size) * group.block_bytes;
  return sum;
}

KvStore::KvStore(const KvLayout& layout, const CacheSize& size)
    : layout_(layout), slots_(round_up(size.slots, slot_block)), context_(size.context) {
  for (const KvLayout::Group& group : layout.groups_) {
    rings_.push_back(group.blocks(size));
    pages_.emplace_back(rings_.back() * group.block_bytes);
  }
}

template <class Use>
void KvStore::with(std::size_t layer, std::size_t head, Use use) const {
  const std::size_t dim = layout_.layers_[layer].head_dim;
  with_numbers(layout_.types_, [&]<class K, class V>(K, V) {
    const auto [group, start] = layout_.places_[layer];
    const std::size_t at = start + head * CachedHead<K, V>::block_bytes(dim);
    use(CachedHead<K, V>{pages_[group].data() + at, layout_.groups_[group].block_bytes, dim, rings_[group]});
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

void KvStore::attend(std::size_t layer, std::size_t head, std::span<const Query> queries, ScoreRule rule,
                     std::span<float> scratch, ReadFrom from) const {
  with(layer, head, [&]<class K, class V>(const CachedHead<K, V>& cached) {
    const CachedHead<const K, const V> constant{cached.blocks, cached.apart, cached.dim, cached.ring};
    spectr::attend(queries, constant, rule, scratch, from);
  });
}

void KvStore::move(std::size_t from, std::size_t to) {
  SPECTR_CHECK(from < slots_ && to < slots_);
  if (from == to) return;
  for (std::size_t layer = 0; layer < layout_.layers_.size(); ++layer) {
    for (std::size_t head = 0; head < layout_.layers_[layer].kv_heads; ++head) {
      with(layer, head, [&](const auto& cached) {
        for (std::size_t j = 0; j < cached.dim; ++j) cached.key(to, j) = cached.key(from, j);
        std::copy_n(cached.value(from), cached.dim, cached.value(to));
      });
    }
  }
}

// A ring holds the text's latest slots in the blocks that the text's first ones have filled, or in all.
void KvStore::copy(const KvStore& other, std::size_t slots) {
  SPECTR_CHECK(&layout_ == &other.layout_ && rings_ == other.rings_ && slots <= slots_);
  for (std::size_t group = 0; group < pages_.size(); ++group) {
    const std::size_t blocks = std::min(div_up(slots, slot_block), rings_[group]);
    std::copy_n(other.pages_[group].data(), blocks * layout_.groups_[group].block_bytes,
                pages_[group].data());
  }
}

}  // namespace spectr
