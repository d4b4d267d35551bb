#include "spectr/model/kv_cache.h"

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/kernels/attention.h"

namespace spectr {

KvCache::KvCache(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim)
    : layers_(layers),
      kv_heads_(kv_heads),
      slots_((slots + key_group - 1) / key_group * key_group),
      head_dim_(head_dim),
      keys_(offset(layers, 0)),
      values_(offset(layers, 0)) {}

KvCache::Numbers::Numbers(std::size_t count) : bytes_(allocate_aligned(count * sizeof(float))) {
  std::fill_n(of(0), count, 0.0f);
}

void KvCache::write(std::size_t layer, std::size_t head, std::size_t slot, std::span<const float> key,
                    std::span<const float> value) {
  float* const keys = keys_.of(offset(layer, head));
  for (std::size_t j = 0; j < head_dim_; ++j) keys[key_place(slot, j, head_dim_)] = key[j];
  std::ranges::copy(value, values_.of(offset(layer, head) + slot * head_dim_));
}

void KvCache::move(std::size_t from, std::size_t to) {
  SPECTR_CHECK(from < slots_ && to < slots_);
  if (from == to) return;
  for (std::size_t at = 0; at < offset(layers_, 0); at += slots_ * head_dim_) {
    float* const keys = keys_.of(at);
    for (std::size_t j = 0; j < head_dim_; ++j) {
      keys[key_place(to, j, head_dim_)] = keys[key_place(from, j, head_dim_)];
    }
    float* const values = values_.of(at);
    std::copy_n(values + from * head_dim_, head_dim_, values + to * head_dim_);
  }
}

}  // namespace spectr
