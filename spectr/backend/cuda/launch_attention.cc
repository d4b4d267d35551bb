#include "spectr/backend/cuda/lowering.h"
#include "spectr/base/check.h"

namespace spectr::cuda {

void Lowering::operator()(const call::Turn& c) {
  const bool stores = static_cast<bool>(c.k.at);
  const Rotate p{.q = sum(c.q),
                 .k = sum(c.k),
                 .v = sum(c.v),
                 .turned = written(c.turned),
                 .angles = at<const float>(c.angles),
                 .to = at<const PoolSlot>(c.written),
                 .scales = at<const float>(c.scales),
                 .pool = at<std::uint8_t>(c.cache.pool),
                 .block_bytes = as_long(c.cache.block_bytes),
                 .layer = as_long(c.cache.layer),
                 .heads = as_int(c.heads),
                 .kv_heads = as_int(c.cache.kv_heads),
                 .dim = as_int(c.cache.dim),
                 .first = as_int(c.first),
                 .dims = as_int(c.dims),
                 .interleaved = c.interleaved,
                 .scale = c.scale};
  add("rotate", c.rows, c.heads + (stores ? c.cache.kv_heads : 0), 64, p);
}

void Lowering::operator()(const call::Attend& c) {
  const std::size_t dim = c.cache.dim, group = c.heads / c.cache.kv_heads;
  SPECTR_CHECK(c.q.stride == c.heads * dim);
  const Attention p{.q = at<const float>(c.q.at),
                    .pool = at<const std::uint8_t>(c.cache.pool),
                    .items = at<const AttentionItem>(c.items),
                    .listed = at<const PoolSlot>(c.listed),
                    .parts = at<float>(c.parts),
                    .block_bytes = as_long(c.cache.block_bytes),
                    .layer = as_long(c.cache.layer),
                    .heads = as_int(c.heads),
                    .kv_heads = as_int(c.cache.kv_heads),
                    .cap = c.cap};
  const std::size_t shared = 256 * dim + c.rows_together * group * (dim + 64) * sizeof(float) + 16;
  add("attend_" + std::to_string(dim), c.item_count, c.cache.kv_heads, 128, p, as_int(shared));
}

void Lowering::operator()(const call::Merge& c) {
  const Merge p{.parts = at<const float>(c.parts),
                .rows = at<const AttentionRow>(c.plan),
                .sinks = at<const float>(c.sinks),
                .y = at<float>(c.out.at),
                .stride = as_long(c.out.stride),
                .out = quantized(c.quantized),
                .heads = as_int(c.heads),
                .kv_heads = as_int(c.kv_heads)};
  add("merge_" + std::to_string(c.dim), c.rows, div_up(c.heads * c.dim, 128), 256, p);
}

}  // namespace spectr::cuda
