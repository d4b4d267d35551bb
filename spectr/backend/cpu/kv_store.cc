#include "spectr/backend/cpu/kv_store.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

/// Calls use() with a value of the element type.
template <class Use>
void with_number(KvType type, const Use& use) {
  switch (type) {
    case KvType::f32:
      return use(float{});
    case KvType::f16:
      return use(F16{});
    case KvType::q8_0:
      return use(Q8{});
  }
}

/// Calls use(key, value) with values of the element types.
template <class Use>
void with_numbers(const KvTypes& types, const Use& use) {
  with_number(types.keys, [&](auto key) { with_number(types.values, [&](auto value) { use(key, value); }); });
}

/// Rounds x to an element type. scale_of(j) is the destination of number j's scale, if there are scales.
template <class T, class ScaleOf>
void round(std::span<const float> x, std::span<T> out, const ScaleOf& scale_of) {
  if constexpr (has_scales<T>) {
    std::array<std::int8_t, q8_dims> quants;
    for (std::size_t begin = 0; begin < x.size(); begin += q8_dims) {
      const std::size_t count = std::min(q8_dims, x.size() - begin);
      scale_of(begin) = round_to_q8(x.subspan(begin, count), std::span(quants).first(count));
      for (std::size_t j = 0; j < count; ++j) out[begin + j] = {quants[j]};
    }
  } else if constexpr (std::is_same_v<T, F16>) {
    round_to_f16(x, out);
  } else {
    std::ranges::copy(x, out.begin());
  }
}

}  // namespace

KvLayout::KvLayout(std::span<const Layer> layers, const KvTypes& types)
    : layers_(layers.begin(), layers.end()), groups_{{0, 0}}, types_(types) {
  for (const Layer& layer : layers_) {
    auto group = std::ranges::find(groups_, layer.window, &Group::window);
    if (group == groups_.end()) group = groups_.insert(group, {layer.window, 0});
    locations_.push_back({static_cast<std::size_t>(group - groups_.begin()), group->block_bytes});
    group->block_bytes += layer.kv_heads * head_bytes(layer);
  }
}

std::size_t KvLayout::head_bytes(const Layer& layer) const {
  std::size_t bytes = 0;
  with_numbers(types_, [&]<class K, class V>(K, V) {
    bytes = layer.value_dim > 0 ? slot_bytes<K>(slot_block, layer.head_dim)
                                : CachedHead<K, V>::block_bytes(layer.head_dim);
  });
  return bytes;
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

KvStore::KvStore(const KvLayout& layout, const CacheSize& size, BlockPool& pool)
    : layout_(layout), pool_(pool), slots_(round_up(size.slots, slot_block)), context_(size.context) {
  const ZeroedPages could_be_had(layout.bytes(size));
  for (const KvLayout::Group& group : layout.groups_) {
    Blocks& blocks = blocks_.emplace_back(std::vector<std::byte*>(), group.blocks(size));
    blocks.table.reserve(blocks.ring);
    if (group.window == 0) continue;
    const ZeroedPages& pages = windows_.emplace_back(blocks.ring * group.block_bytes);
    for (std::size_t i = 0; i < blocks.ring; ++i)
      blocks.table.push_back(pages.data() + i * group.block_bytes);
  }
  held_.reserve(blocks_.front().ring);
}

template <class Beside, class Once>
void KvStore::with(std::size_t layer, std::size_t head, const Beside& beside, const Once& once) const {
  const KvLayout::Layer& sizes = layout_.layers_[layer];
  const auto [group, start] = layout_.locations_[layer];
  const Blocks& blocks = blocks_[group];
  const std::size_t begin = start + head * layout_.head_bytes(sizes), dim = sizes.head_dim;
  if (sizes.value_dim > 0) {
    with_number(layout_.types_.keys,
                [&]<class K>(K) { once(CachedValues<K>{{blocks.table.data(), begin, dim, blocks.ring}}); });
  } else {
    with_numbers(layout_.types_, [&]<class K, class V>(K, V) {
      beside(CachedHead<K, V>{blocks.table.data(), begin, dim, blocks.ring});
    });
  }
}

namespace {

template <class V>
void write_value(const CachedValues<V>& values, std::size_t slot, std::span<const float> value) {
  round(value, std::span<V>(values.value(slot), values.dim),
        [&](std::size_t j) -> float& { return values.scale(slot, j); });
}

template <class V>
void move_value(const CachedValues<V>& values, std::size_t from, std::size_t to) {
  std::copy_n(values.value(from), values.dim, values.value(to));
  for (std::size_t j = 0; has_scales<V> && j < values.dim; j += q8_dims)
    values.scale(to, j) = values.scale(from, j);
}

}  // namespace

void KvStore::write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
                    std::span<const float> value) {
  const auto beside = [&]<class K, class V>(const CachedHead<K, V>& cached) {
    const CachedKeys<K> keys = cached.keys();
    std::array<K, 2 * q8_dims> some;
    for (std::size_t begin = 0; begin < cached.dim; begin += some.size()) {
      const std::span rounded = std::span(some).first(std::min(some.size(), cached.dim - begin));
      round(key.subspan(begin, rounded.size()), rounded,
            [&](std::size_t j) -> float& { return keys.scale(slot, begin + j); });
      for (std::size_t j = 0; j < rounded.size(); ++j) keys.key(slot, begin + j) = rounded[j];
    }
    write_value(cached.values(), slot, value);
  };
  with(layer, head, beside, [&](const auto& latent) { write_value(latent, slot, key); });
}

void KvStore::attend(std::size_t layer, std::size_t head, std::span<const Query> queries, ScoreRule rule,
                     std::span<float> scratch, ReadFrom from) const {
  const auto beside = [&]<class K, class V>(const CachedHead<K, V>& cached) {
    const CachedHead<const K, const V> constant{cached.table, cached.begin, cached.dim, cached.ring};
    spectr::attend(queries, constant, rule, scratch, from);
  };
  with(layer, head, beside, [&]<class K>(const CachedValues<K>& latent) {
    const CachedValues<const K> constant{{latent.table, latent.begin, latent.dim, latent.ring}};
    spectr::attend(queries, constant, layout_.layers_[layer].value_dim, rule, scratch, from);
  });
}

void KvStore::move(std::size_t from, std::size_t to) {
  SPECTR_CHECK(from < slots_ && to < slots_);
  if (from == to) return;
  const auto beside = [&]<class K, class V>(const CachedHead<K, V>& cached) {
    const CachedKeys<K> keys = cached.keys();
    for (std::size_t j = 0; j < cached.dim; ++j) {
      keys.key(to, j) = keys.key(from, j);
      if (has_scales<K> && j % q8_dims == 0) keys.scale(to, j) = keys.scale(from, j);
    }
    move_value(cached.values(), from, to);
  };
  const auto once = [&](const auto& latent) { move_value(latent, from, to); };
  for (std::size_t layer = 0; layer < layout_.layers_.size(); ++layer) {
    for (std::size_t head = 0; head < layout_.layers_[layer].kv_heads; ++head)
      with(layer, head, beside, once);
  }
}

SharedBlock KvStore::copy_of(const SharedBlock& block) const {
  SharedBlock copy = pool_.take();
  std::copy_n(block.data(), layout_.block_bytes(), copy.data());
  return copy;
}

void KvStore::own(std::size_t begin, std::size_t end) {
  SPECTR_CHECK(begin < end && end <= slots_);
  if (layout_.block_bytes() == 0) return;
  const std::size_t blocks = div_up(end, slot_block);
  for (std::size_t i = begin / slot_block; i < std::min(blocks, held_.size()); ++i) {
    if (!held_[i].own) set(i, {copy_of(held_[i].block), true});
  }
  while (held_.size() < blocks) set(held_.size(), {pool_.take(), true});
  // Remaining tree nodes can lie behind the written slots, but no further than a tree reaches.
  const std::size_t tree = slots_ - std::min(context_, slots_);
  drop(std::min(div_up(end + tree, slot_block), held_.size()));
}

std::vector<SharedBlock> KvStore::share(std::size_t slots) {
  std::vector<SharedBlock> blocks;
  if (layout_.block_bytes() == 0) return blocks;
  const std::size_t full = slots / slot_block;
  SPECTR_CHECK(div_up(slots, slot_block) <= held_.size());
  for (const Held& held : std::span(held_).first(full)) blocks.push_back(held.block);
  if (slots % slot_block > 0) blocks.push_back(copy_of(held_[full].block));
  for (Held& held : std::span(held_).first(full)) held.own = false;
  return blocks;
}

void KvStore::take(std::span<const SharedBlock> blocks, std::size_t slots) {
  if (layout_.block_bytes() == 0) return;
  const std::size_t full = slots / slot_block;
  SPECTR_CHECK(div_up(slots, slot_block) <= blocks.size());
  SharedBlock last = slots % slot_block > 0 ? copy_of(blocks[full]) : SharedBlock();
  drop(0);
  for (const SharedBlock& block : blocks.first(full)) set(held_.size(), {block, false});
  if (slots % slot_block > 0) set(full, {std::move(last), true});
}

void KvStore::set(std::size_t i, Held block) {
  std::vector<std::byte*>& table = blocks_.front().table;
  if (i == held_.size()) {
    table.emplace_back();
    held_.emplace_back();
  }
  table[i] = block.block.data();
  held_[i] = std::move(block);
}

void KvStore::drop(std::size_t begin) {
  held_.resize(begin);
  blocks_.front().table.resize(begin);
}

// A ring has the sequence's latest slots in its first blocks, or in all of them once it has wrapped.
void KvStore::append_windows(std::size_t slots, std::vector<std::span<std::byte>>& memory) const {
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const std::size_t blocks = std::min(div_up(slots, slot_block), blocks_[1 + i].ring);
    memory.emplace_back(windows_[i].data(), blocks * layout_.groups_[1 + i].block_bytes);
  }
}

}  // namespace spectr
