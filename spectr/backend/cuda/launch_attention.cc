#include <algorithm>
#include <array>

#include "spectr/backend/cuda/lowering.h"
#include "spectr/base/check.h"

namespace spectr::cuda {
namespace {

/// Head dimensions that have specialized kernels, for f16 caches.
constexpr std::array<std::size_t, 8> tuned_dimensions = {16, 32, 48, 64, 80, 96, 128, 256};
constexpr std::size_t queries_of_group = 16;  // see any_attention.cuh

bool is_tuned(std::size_t dim) {
  return std::ranges::find(tuned_dimensions, dim) != tuned_dimensions.end();
}
bool is_tuned(const call::Cache& cache) {
  return cache.types == KvTypes{KvType::f16, KvType::f16} && cache.value_dim == 0 && is_tuned(cache.dim);
}

}  // namespace

void Lowering::operator()(const call::Rope& c) {
  const bool stores = static_cast<bool>(c.k.at);
  const Rotate p{.q = sum(c.q),
                 .k = sum(c.k),
                 .v = sum(c.v),
                 .rotated = written(c.rotated),
                 .angles = at<const float>(c.angles),
                 .to = at<const PoolSlot>(c.written),
                 .scales = at<const float>(c.scales),
                 .pool = at<std::uint8_t>(c.cache.pool),
                 .block_bytes = as_long(c.cache.block_bytes),
                 .layer = as_long(c.cache.layer),
                 .head = c.cache.head(),
                 .heads = as_int(c.heads),
                 .first = as_int(c.first),
                 .dims = as_int(c.dims),
                 .interleaved = c.interleaved,
                 .scale = c.scale};
  add("rotate", c.rows, c.heads + (stores ? c.cache.kv_heads : 0), 64, p);
}

void Lowering::operator()(const call::Attend& c) {
  const std::size_t dim = c.cache.dim, queries = c.rows_together * (c.heads / c.cache.kv_heads);
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
  const std::size_t shared = 256 * dim + queries * (dim + 64) * sizeof(float) + 16;
  const Processors& device = plans_.device();
  if (is_tuned(c.cache) && as_int(shared) <= device.group_shared_bytes && device.copies == Copies::in_bulk) {
    add("attend_" + std::to_string(dim), c.item_count, c.cache.kv_heads, 128, p, as_int(shared));
  } else {
    const std::size_t groups = div_up(queries, queries_of_group);
    add("any_attend", c.item_count, c.cache.kv_heads * groups, 128,
        AnyAttention{.of = p, .head = c.cache.head(), .query_groups = as_int(groups)});
  }
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
  const std::size_t groups = div_up(c.heads * c.dim, 128);
  if (is_tuned(c.dim)) {
    add("merge_" + std::to_string(c.dim), c.rows, groups, 256, p);
  } else {
    add("any_merge", c.rows, groups, 256, AnyMerge{.of = p, .dim = as_int(c.dim)});
  }
}

}  // namespace spectr::cuda
