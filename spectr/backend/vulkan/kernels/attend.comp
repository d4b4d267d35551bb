#version 460
// Attention of the rows of an item over its chunk of at most 64 slots, for one head of keys: grid (items,
// kv_heads · groups of 16 queries). Of each query the largest score M, w_i = e^(score_i − M), their sum as a
// tree (slots i and i + 32, then neighbours), and Σ w_i v_i, ascending. The i-th attended slot is what counts,
// not its place.
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint KEYS = 1u;  // the types of the cache: 0: floats, 1: halves, 2: q8_0
layout(constant_id = 1) const uint VALUES = 1u;
layout(constant_id = 2) const bool ONCE = false;  // keys have the values
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
  float parts[];  // of a query Σ w v in whole fours, then M and Σ w
};
layout(push_constant) uniform Parameters {
  uint q_at, q_stride, pool_at, block_words, head_words, items_at, listed_at, parts_at;
  uint heads, kv_heads;
  float cap;  // 0: none
  uint dim, value_dim, key_scales, values, value_scales;  // words of a head
  uint query_groups;                                      // of a head of keys
} call;

const uint at_once = 4u;  // queries: they share what is read of the cache
const uint queries_of_group = 16u;
const uint tile = 64u;  // dimensions of queries at a time
shared float queries[at_once][tile];
shared float weights[at_once][64];
shared float tree[at_once][64];
shared uint blocks[64];  // where the blocks of the chunk's slots begin, and
shared uint slots[64];   // which slot of it each one is

/// Four numbers of a type, from word `at` on.
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

/// Dimensions d … d + 3 of the chunk's i-th key, d a multiple of 4.
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

/// Dimensions from `from` on of the queries from `first` on.
void load_queries(uint row, uint first, uint count, uint group, uint head, uint from) {
  barrier();  // who still reads those of before
  for (uint j = gl_LocalInvocationID.x; j < at_once * tile; j += 64u) {
    const uint of = min(first + j / tile, count - 1u);  // the queries of a row's heads lie together
    const uint at = call.q_at + (row + of / group) * call.q_stride + (head * group + of % group) * call.dim;
    if (from + j % tile < call.dim) queries[j / tile][j % tile] = q[at + from + j % tile];
  }
  barrier();
}

/// Adds what dimensions from `from` on give to a slot's scores.
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

/// Scores become weights; `tree` gets the largest score of each query, then their sum in its first place.
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

/// Four dimensions of a query's Σ w v, from d on.
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
