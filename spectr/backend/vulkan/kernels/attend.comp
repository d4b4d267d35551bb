#version 460
// Attention of the rows of an item over its chunk of at most 64 slots, for one head of keys: grid (items,
// kv_heads). Of each query the largest score M, w_i = e^(score_i − M), their sum as a tree (slots i and
// i + 32, then neighbours), and Σ w_i v_i, ascending. The i-th attended slot is what counts, not its place.
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint DIM = 64u;
layout(constant_id = 1) const bool IS_F16 = true;
layout(binding = 0) readonly buffer Q {
  float q[];
};
layout(binding = 1) readonly buffer Pool {
  uint pool[];
};
layout(binding = 2) readonly buffer Items {
  int items[];  // see AttentionItem
};
layout(binding = 3) readonly buffer Listed {
  int listed[];
};
layout(binding = 4) writeonly buffer Parts {
  float parts[];  // [query][DIM + 4]: Σ w v, M, Σ w
};
layout(push_constant) uniform Parameters {
  uint q_at, q_stride, pool_at, block_words, head_words, items_at, listed_at, parts_at;
  uint heads, kv_heads;
  float cap;  // 0: none
} call;

const uint at_once = 4u;  // queries: they share what is read of the cache
shared float queries[at_once][DIM];
shared float weights[at_once][64];
shared float tree[at_once][64];
shared uint blocks[64];  // where the blocks of the chunk's slots begin, and
shared uint slots[64];   // which slot of it each one is

/// Numbers i and i + 1 behind word `at` of the cache, i even.
vec2 two(uint at, uint i) {
  if (IS_F16) return unpackHalf2x16(pool[at + i / 2u]);
  return vec2(uintBitsToFloat(pool[at + i]), uintBitsToFloat(pool[at + i + 1u]));
}

void load_queries(uint row, uint first, uint count, uint group, uint head) {
  barrier();  // who still reads those of before
  for (uint j = gl_LocalInvocationID.x; j < at_once * DIM; j += 64u) {
    const uint of = min(first + j / DIM, count - 1u);  // the queries of a row's heads lie together
    const uint at = call.q_at + (row + of / group) * call.q_stride + (head * group + of % group) * DIM;
    queries[j / DIM][j % DIM] = q[at + j % DIM];
  }
  barrier();
}

/// Scores become weights; `tree` gets the largest score of each query, then their sum in its first place.
void weigh(bool is_present, out float most[at_once]) {
  const uint lane = gl_LocalInvocationID.x;
  float score[at_once];
  [[unroll]] for (uint i = 0u; i < at_once; ++i) score[i] = 0.0;
  if (is_present) {
    for (uint d = 0u; d < DIM; d += 4u) {
      const uint at = (d / 4u * 64u + slots[lane]) * 4u;
      const vec2 low = two(blocks[lane], at), high = two(blocks[lane], at + 2u);
      [[unroll]] for (uint i = 0u; i < at_once; ++i) {
        score[i] = add(score[i], mul(queries[i][d], low.x));
        score[i] = add(score[i], mul(queries[i][d + 1u], low.y));
        score[i] = add(score[i], mul(queries[i][d + 2u], high.x));
        score[i] = add(score[i], mul(queries[i][d + 3u], high.y));
      }
    }
  }
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

void main() {
  const uint lane = gl_LocalInvocationID.x, head = gl_WorkGroupID.y;
  const uint item = call.items_at + gl_WorkGroupID.x * 8u;
  const uint row = uint(items[item]), rows = uint(items[item + 1u]), part = uint(items[item + 2u]);
  const int block = items[item + 3u];
  const uint present = uint(items[item + 5u]);
  if (rows == 0u) return;
  const uint group = call.heads / call.kv_heads, count = rows * group;
  const bool is_present = lane < present;
  if (is_present) {
    uint slot = uint(block) * 64u + lane;
    if (block < 0) slot = uint(listed[call.listed_at + uint(items[item + 4u]) + lane]);
    blocks[lane] = call.pool_at + slot / 64u * call.block_words + head * call.head_words;
    slots[lane] = slot % 64u;
  }
  const uint to = call.parts_at + (part * call.heads + head * count) * (DIM + 4u);
  for (uint first = 0u; first < count; first += at_once) {
    float most[at_once];
    load_queries(row, first, count, group, head);
    weigh(is_present, most);
    const uint n = min(at_once, count - first);
    for (uint j = lane; j < n * (DIM / 2u); j += 64u) {
      const uint i = j / (DIM / 2u), d = j % (DIM / 2u) * 2u;
      float a = 0.0, b = 0.0;
      for (uint s = 0u; s < present; ++s) {
        const vec2 value = two(blocks[s], 64u * DIM + slots[s] * DIM + d);
        a = add(a, mul(weights[i][s], value.x));
        b = add(b, mul(weights[i][s], value.y));
      }
      parts[to + (first + i) * (DIM + 4u) + d] = a;
      parts[to + (first + i) * (DIM + 4u) + d + 1u] = b;
    }
    [[unroll]] for (uint i = 0u; i < at_once; ++i) {
      if (lane == i && i < n) {
        parts[to + (first + i) * (DIM + 4u) + DIM] = most[i];
        parts[to + (first + i) * (DIM + 4u) + DIM + 1u] = tree[i][0];
      }
    }
  }
}
