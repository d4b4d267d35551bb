#version 460
// Attention of an item's rows over its chunk of at most 64 slots, for one KV head. Grid: (items, kv_heads ·
// groups of 16 queries). For each query, computes the maximum score M, w_i = e^(score_i − M), their tree sum
// (slots i and i + 32, then neighbours), and Σ w_i v_i, ascending. Results depend on the order of attended
// slots, not on slot numbers.
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint KEYS = 1u;  // the KV types, 0: f32, 1: f16, 2: q8_0
layout(constant_id = 1) const uint VALUES = 1u;
layout(constant_id = 2) const bool ONCE = false;  // keys contain the values
layout(binding = 0) readonly buffer Q {
  float q[];
};
layout(binding = 1) readonly buffer Pool {
  uint pool[];  // see HeadLayout
};
layout(binding = 2) readonly buffer Items {
  int items[];  // see AttentionItem
};
layout(binding = 3) readonly buffer Listed {
  int listed[];
};
layout(binding = 4) writeonly buffer Parts {
  float parts[];  // per query: Σ w v padded to multiples of 4, then M and Σ w
};
layout(push_constant) uniform Parameters {
  uint q_at, q_stride, pool_at, block_words, head_words, items_at, listed_at, parts_at;
  uint heads, kv_heads;
  float cap;  // 0: none
  uint dim, value_dim, key_scales, values, value_scales;  // offsets in a head, in words
  uint query_groups;                                      // per KV head
} call;

const uint at_once = 4u;  // queries that share reads of the cache
const uint queries_of_group = 16u;
const uint tile = 64u;  // dimensions of queries per tile
shared float queries[at_once][tile];
shared float weights[at_once][64];
shared float tree[at_once][64];
shared uint blocks[64];  // offsets of the blocks of the chunk's slots
shared uint slots[64];   // indices of the slots in their blocks

/// Loads four numbers of a type, starting at word `at`.
vec4 four(uint type, uint at, uint scale_at) {
  if (type == 0u)
    return vec4(uintBitsToFloat(pool[at]), uintBitsToFloat(pool[at + 1u]), uintBitsToFloat(pool[at + 2u]),
                uintBitsToFloat(pool[at + 3u]));
  if (type == 1u) return vec4(unpackHalf2x16(pool[at]), unpackHalf2x16(pool[at + 1u]));
  const int quants = int(pool[at]);
  const float scale = uintBitsToFloat(pool[scale_at]);
  return vec4(mul(scale, float(quants << 24 >> 24)), mul(scale, float(quants << 16 >> 24)),
              mul(scale, float(quants << 8 >> 24)), mul(scale, float(quants >> 24)));
}

/// Loads dimensions d … d + 3 of the chunk's i-th key; d is a multiple of 4.
vec4 key(uint i, uint d) {
  return four(KEYS, blocks[i] + (d / 4u * 64u + slots[i]) * (4u >> KEYS),
              blocks[i] + call.key_scales + d / 32u * 64u + slots[i]);
}
vec4 value(uint i, uint d) {
  if (ONCE) return key(i, d);
  const uint fours = (call.value_dim + 3u) / 4u, scales = (call.value_dim + 31u) / 32u;
  return four(VALUES, blocks[i] + call.values + (slots[i] * fours + d / 4u) * (4u >> VALUES),
              blocks[i] + call.value_scales + slots[i] * scales + d / 32u);
}

/// Loads dimensions from `from` on of the queries from `first` on.
void load_queries(uint row, uint first, uint count, uint group, uint head, uint from) {
  barrier();  // the previous queries may still be read
  for (uint j = gl_LocalInvocationID.x; j < at_once * tile; j += 64u) {
    const uint of = min(first + j / tile, count - 1u);  // the queries of a row's heads are contiguous
    const uint at = call.q_at + (row + of / group) * call.q_stride + (head * group + of % group) * call.dim;
    if (from + j % tile < call.dim) queries[j / tile][j % tile] = q[at + from + j % tile];
  }
  barrier();
}

/// Adds the contribution of the dimensions from `from` on to a slot's scores.
void add_scores(uint slot, uint from, inout float score[at_once]) {
  const uint end = min(tile, call.dim - from);
  for (uint d = 0u; d < end; d += 4u) {
    const vec4 k = key(slot, from + d);
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {
      if (d + j >= end) break;
      [[unroll]] for (uint i = 0u; i < at_once; ++i) score[i] = add(score[i], mul(queries[i][d + j], k[j]));
    }
  }
}

/// Converts scores to weights. Sets `most` to the maximum scores, and tree[i][0] to the sums of weights.
void weigh(bool is_present, float score[at_once], out float most[at_once]) {
  const uint lane = gl_LocalInvocationID.x;
  [[unroll]] for (uint i = 0u; i < at_once; ++i) {
    if (call.cap > 0.0) score[i] = soft_cap(score[i], call.cap);
    if (!is_present) score[i] = -infinity;
    tree[i][lane] = score[i];
  }
  barrier();
  for (uint h = 32u; h > 0u; h /= 2u) {
    if (lane < h) {
      [[unroll]] for (uint i = 0u; i < at_once; ++i) tree[i][lane] = larger(tree[i][lane], tree[i][lane + h]);
    }
    barrier();
  }
  [[unroll]] for (uint i = 0u; i < at_once; ++i) most[i] = tree[i][0];
  barrier();
  [[unroll]] for (uint i = 0u; i < at_once; ++i) {
    const float weight = is_present ? exp_of_negative(sub(score[i], most[i])) : 0.0;
    weights[i][lane] = weight;
    tree[i][lane] = weight;
  }
  barrier();
  if (lane < 32u) {
    [[unroll]] for (uint i = 0u; i < at_once; ++i) tree[i][lane] = add(tree[i][lane], tree[i][lane + 32u]);
  }
  barrier();
  for (uint h = 1u; h < 32u; h *= 2u) {
    if (lane < 32u && lane % (2u * h) == 0u) {
      [[unroll]] for (uint i = 0u; i < at_once; ++i) tree[i][lane] = add(tree[i][lane], tree[i][lane + h]);
    }
    barrier();
  }
}

/// Returns dimensions d … d + 3 of a query's Σ w v.
vec4 sum_values(uint i, uint d, uint present) {
  vec4 sum = vec4(0.0);
  for (uint s = 0u; s < present; ++s) {
    const vec4 v = value(s, d);
    [[unroll]] for (uint k = 0u; k < 4u; ++k) sum[k] = add(sum[k], mul(weights[i][s], v[k]));
  }
  return sum;
}

void main() {
  const uint lane = gl_LocalInvocationID.x, head = gl_WorkGroupID.y / call.query_groups;
  const uint item = call.items_at + gl_WorkGroupID.x * 8u;
  const uint row = uint(items[item]), rows = uint(items[item + 1u]), part = uint(items[item + 2u]);
  const int block = items[item + 3u];
  const uint present = uint(items[item + 5u]);
  const uint group = call.heads / call.kv_heads, count = rows * group;
  const uint begin = gl_WorkGroupID.y % call.query_groups * queries_of_group;
  if (begin >= count) return;
  const bool is_present = lane < present;
  if (is_present) {
    uint slot = uint(block) * 64u + lane;
    if (block < 0) slot = uint(listed[call.listed_at + uint(items[item + 4u]) + lane]);
    blocks[lane] = call.pool_at + slot / 64u * call.block_words + head * call.head_words;
    slots[lane] = slot % 64u;
  }
  const uint fours = (call.value_dim + 3u) / 4u, numbers = 4u * fours + 4u;
  const uint to = call.parts_at + (part * call.heads + head * count) * numbers;
  for (uint first = begin; first < min(begin + queries_of_group, count); first += at_once) {
    float score[at_once], most[at_once];
    [[unroll]] for (uint i = 0u; i < at_once; ++i) score[i] = 0.0;
    for (uint from = 0u; from < call.dim; from += tile) {
      load_queries(row, first, count, group, head, from);
      if (is_present) add_scores(lane, from, score);
    }
    weigh(is_present, score, most);
    const uint n = min(at_once, count - first);
    for (uint j = lane; j < n * fours; j += 64u) {
      const uint i = j / fours, d = j % fours * 4u, at = to + (first + i) * numbers + d;
      const vec4 sum = sum_values(i, d, present);
      [[unroll]] for (uint k = 0u; k < 4u; ++k) {
        if (d + k < call.value_dim) parts[at + k] = sum[k];
      }
    }
    [[unroll]] for (uint i = 0u; i < at_once; ++i) {
      if (lane == i && i < n) {
        parts[to + (first + i) * numbers + 4u * fours] = most[i];
        parts[to + (first + i) * numbers + 4u * fours + 1u] = tree[i][0];
      }
    }
  }
}
