#version 460
// Queries and keys turn by their positions; keys and values go to the cache. A group for each head, of
// queries, then of keys and values: grid (rows, heads + kv_heads). A thread has two dimensions at a time.
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Q {
  float q[];
};
layout(binding = 1) readonly buffer KeysIn {
  float k[];
};
layout(binding = 2) readonly buffer ValuesIn {
  float v[];
};
layout(binding = 3) writeonly buffer Turned {
  float turned[];
};
layout(binding = 4) readonly buffer Angles {
  vec2 angles[];  // cosine and sine
};
layout(binding = 5) readonly buffer Written {
  uint written[];
};
layout(binding = 6) readonly buffer Scales {
  float scales[];
};
layout(binding = 7) writeonly buffer Pool {
  uint pool[];
};
layout(push_constant) uniform Parameters {
  uint q_at, q_stride, k_at, k_stride, v_at, v_stride, turned_at, turned_stride;
  uint angles_at, written_at, scales_at;  // angles: pairs
  uint pool_at, block_words, head_words, is_f16;
  uint heads, dim, first, dims, interleaved;
  float scale;
} call;

float number(bool is_key, uint at) {
  return is_key ? k[at] : q[at];
}

/// Dimension d of the head at `at`, turned.
float turn(bool is_key, uint at, uint r, uint d) {
  const float x = number(is_key, at + d);
  const uint i = d - call.first, half_dims = call.dims / 2u;
  if (d < call.first || i >= call.dims) return x;
  const bool is_pair = call.interleaved != 0u, is_left = is_pair ? i % 2u == 0u : i < half_dims;
  const uint pair = is_pair ? i / 2u : i % half_dims, step = is_pair ? 1u : half_dims;
  const vec2 angle = angles[call.angles_at + r * half_dims + pair];
  if (is_left) return sub(mul(x, angle.x), mul(number(is_key, at + d + step), angle.y));
  return add(mul(number(is_key, at + d - step), angle.y), mul(x, angle.x));
}

/// Numbers `i` and `i` + 1 behind word `at` of the cache, i even.
void store(uint at, uint i, float a, float b) {
  if (call.is_f16 != 0u) {
    pool[at + i / 2u] = half_of(a) | half_of(b) << 16;
  } else {
    pool[at + i] = floatBitsToUint(a);
    pool[at + i + 1u] = floatBitsToUint(b);
  }
}

void main() {
  const uint r = gl_WorkGroupID.x, head = gl_WorkGroupID.y, dim = call.dim;
  if (head < call.heads) {
    const uint from = call.q_at + r * call.q_stride + head * dim;
    const uint to = call.turned_at + r * call.turned_stride + head * dim;
    float scale = call.scale;
    if (call.scales_at != none) scale = scales[call.scales_at + r];
    for (uint d = gl_LocalInvocationID.x; d < dim; d += 64u) turned[to + d] = mul(turn(false, from, r, d), scale);
    return;
  }
  const uint of = head - call.heads, key = call.k_at + r * call.k_stride + of * dim;
  const uint value = call.v_at + r * call.v_stride + of * dim;
  const uint place = written[call.written_at + r], slot = place % 64u;
  const uint at = call.pool_at + place / 64u * call.block_words + of * call.head_words;
  for (uint d = 2u * gl_LocalInvocationID.x; d < dim; d += 128u) {
    store(at, (d / 4u * 64u + slot) * 4u + d % 4u, turn(true, key, r, d), turn(true, key, r, d + 1u));
    store(at, 64u * dim + slot * dim + d, v[value + d], v[value + d + 1u]);
  }
}
