#include "spectr/model/kv_cache.h"

#include <algorithm>

#include "spectr/base/check.h"

namespace spectr {

KvCache::KvCache(std::size_t layers, std::size_t kv_heads, std::size_t slots, std::size_t head_dim)
    : layers_(layers),
      kv_heads_(kv_heads),
      slots_(slots),
      head_dim_(head_dim),
      keys_(layers * kv_heads * slots * head_dim),
      values_(keys_.size()) {}

void KvCache::move(std::size_t from, std::size_t to) {
  SPECTR_CHECK(from < slots_ && to < slots_);
  if (from == to) return;
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    for (std::size_t head = 0; head < kv_heads_; ++head) {
      for (float* block : {keys(layer, head), values(layer, head)}) {
        std::copy_n(block + from * head_dim_, head_dim_, block + to * head_dim_);
      }
    }
  }
}

}  // namespace spectr
