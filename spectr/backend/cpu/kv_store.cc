#include "spectr/backend/cpu/kv_store.h"

#include <algorithm>
#include <array>

#include "spectr/backend/cpu/kernels/vector_ops.h"
#include "spectr/base/check.h"
#include "spectr/base/numeric.h"

namespace spectr {
namespace {

std::size_t size_of(KvType type) {
  return type == KvType::f16 ? sizeof(F16) : sizeof(float);
}

void round(std::span<const float> x, std::span<float> out) {
  std::ranges::copy(x, out.begin());
}
void round(std::span<const float> x, std::span<F16> out) {
  round_to_f16(x, out);
}

}  // namespace

KvLayout::KvLayout(std::span<const Layer> layers, KvType type)
    : layers_(layers.begin(), layers.end()), type_(type) {
  for (const Layer& layer : layers_) {
    starts_.push_back(block_numbers_);
    block_numbers_ += layer.kv_heads * block_numbers(layer.head_dim);
  }
}

std::size_t KvLayout::bytes(std::size_t slots) const {
  return div_up(slots, slot_block) * block_numbers_ * size_of(type_);
}

KvStore::KvStore(const KvLayout& layout, std::size_t slots)
    : layout_(layout), slots_(round_up(slots, slot_block)), pages_(layout.bytes(slots)) {}

template <class Use>
void KvStore::with(std::size_t layer, std::size_t head, Use use) const {
  const std::size_t dim = layout_.layers_[layer].head_dim;
  const std::size_t at = layout_.starts_[layer] + head * block_numbers(dim);
  const auto cached = [&]<class T>(T* all) { return CachedHead<T>{all + at, layout_.block_numbers_, dim}; };
  if (layout_.type_ == KvType::f16) {
    use(cached(reinterpret_cast<F16*>(pages_.data())));
  } else {
    use(cached(reinterpret_cast<float*>(pages_.data())));
  }
}

void KvStore::write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
                    std::span<const float> value) {
  const std::size_t dim = layout_.layers_[layer].head_dim;
  with(layer, head, [&]<class T>(const CachedHead<T>& cached) {
    std::array<T, 64> some;
    for (std::size_t begin = 0; begin < dim; begin += some.size()) {
      const std::span rounded = std::span(some).first(std::min(some.size(), dim - begin));
      round(key.subspan(begin, rounded.size()), rounded);
      for (std::size_t j = 0; j < rounded.size(); ++j) cached.key(slot, begin + j) = rounded[j];
    }
    round(value, {cached.value(slot), dim});
  });
}

void KvStore::attend(std::size_t layer, std::size_t head, std::span<const Query> queries, float scale,
                     std::span<float> scratch, ReadFrom from) const {
  with(layer, head, [&]<class T>(const CachedHead<T>& cached) {
    spectr::attend(queries, CachedHead<const T>{cached.blocks, cached.apart, cached.dim}, scale, scratch,
                   from);
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
