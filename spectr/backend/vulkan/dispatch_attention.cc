#include "spectr/backend/device/attention_rows.h"
#include "spectr/backend/vulkan/lowering.h"

namespace spectr::vulkan {

namespace {

constexpr std::size_t queries_of_group = 16;  // see attend.comp

/// Returns the encoding of a KV type in kernels.
std::uint32_t type_of(KvType type) {
  return static_cast<std::uint32_t>(type);
}
std::uint32_t words(int bytes) {
  return static_cast<std::uint32_t>(bytes) / word;
}

}  // namespace

void Lowering::operator()(const call::Rope& c) {
  const call::Cache& cache = c.cache;
  const HeadLayout head = cache.head();
  const std::size_t q_cols = c.heads * cache.dim, kv_cols = cache.kv_heads * cache.dim;
  const bool stores = static_cast<bool>(c.k.at);
  begin(Kernel::rope);
  end({reads(0, c.q, c.rows, q_cols),
       as_uint(c.q.stride),
       reads(1, c.k, c.rows, kv_cols),
       as_uint(c.k.stride),
       reads(2, c.v, c.rows, kv_cols),
       as_uint(c.v.stride),
       writes(3, c.rotated, c.rows, q_cols),
       as_uint(c.rotated.stride),
       reads(4, c.angles, c.rows * c.dims * word, 2 * word),
       reads(5, c.written, c.rows * sizeof(PoolSlot)),
       reads(6, c.scales, c.rows * word),
       writes(7, cache.pool, rest_of(cache.pool)) + as_uint(cache.layer / word),
       as_uint(cache.block_bytes / word),
       as_uint(cache.head_bytes() / word),
       type_of(cache.types.keys),
       type_of(cache.types.values),
       words(head.key_scales),
       words(head.values),
       words(head.value_scales),
       as_uint(c.heads),
       as_uint(cache.dim),
       as_uint(c.first),
       as_uint(c.dims),
       c.interleaved ? 1u : 0u,
       as_uint(c.scale)},
      c.rows, c.heads + (stores ? cache.kv_heads : 0));
}

void Lowering::operator()(const call::Attend& c) {
  const call::Cache& cache = c.cache;
  const HeadLayout head = cache.head();
  const std::size_t groups = div_up(c.rows_together * (c.heads / cache.kv_heads), queries_of_group);
  begin(Kernel::attend);
  dispatches_.back().constants = {type_of(cache.types.keys), type_of(cache.types.values),
                                  head.keys_have_values ? 1u : 0u};
  end({reads(0, c.q.at, rest_of(c.q.at)), as_uint(c.q.stride),
       reads(1, cache.pool, rest_of(cache.pool)) + as_uint(cache.layer / word),
       as_uint(cache.block_bytes / word), as_uint(cache.head_bytes() / word),
       reads(2, c.items, c.item_count * sizeof(AttentionItem)), reads(3, c.listed, rest_of(c.listed)),
       writes(4, c.parts, rest_of(c.parts)), as_uint(c.heads), as_uint(cache.kv_heads), as_uint(c.cap),
       as_uint(cache.dim), as_uint(cache.values()), words(head.key_scales), words(head.values),
       words(head.value_scales), as_uint(groups)},
      c.item_count, cache.kv_heads * groups);
}

void Lowering::operator()(const call::Merge& c) {
  const bool quantizes = static_cast<bool>(c.quantized.at);
  begin(quantizes ? Kernel::merge_quantized : Kernel::merge);
  dispatches_.back().constants = {c.dim % 4 == 0 ? 1u : 4u};
  std::vector<std::uint32_t> p = {reads(0, c.parts, rest_of(c.parts)),
                                  reads(1, c.plan, c.rows * sizeof(AttentionRow)),
                                  reads(2, c.sinks, c.heads * word),
                                  writes(3, c.out, c.rows, c.heads * c.dim),
                                  as_uint(c.out.stride),
                                  as_uint(c.heads),
                                  as_uint(c.kv_heads),
                                  as_uint(c.dim)};
  add_quantized(4, c.quantized, p);
  end(std::move(p), c.rows, div_up(c.heads * c.dim, 128));
}

}  // namespace spectr::vulkan
