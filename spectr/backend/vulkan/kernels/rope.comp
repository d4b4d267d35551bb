#version 460
// Applies RoPE to queries and keys, and stores keys and values in the KV cache. Uses a work group for each
// query head, then for each KV head. Grid: (rows, heads + kv_heads). A thread has four dimensions of a key or
// a value at a time.
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
  float rotated[];
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
  uint pool[];  // see HeadLayout
};
layout(push_constant) uniform Parameters {
  uint q_at, q_stride, k_at, k_stride, v_at, v_stride, turned_at, turned_stride;
  uint angles_at, written_at, scales_at;  // angles_at: in pairs
  uint pool_at, block_words, head_words, key_type, value_type;  // types 0: f32, 1: f16, 2: q8_0
  uint key_scales, values, value_scales;                        // offsets in a head, in words
  uint heads, dim, first, dims, interleaved;
  float scale;
} call;

shared uint sizes[64];

float number(bool is_key, uint at) {
  return is_key ? k[at] : q[at];
}

/// Returns the rotated dimension d of the head at `at`.
float rotated_value(bool is_key, uint at, uint r, uint d) {
  const float x = number(is_key, at + d);
  const uint i = d - call.first, half_dims = call.dims / 2u;
  if (d < call.first || i >= call.dims) return x;
  const bool is_pair = call.interleaved != 0u, is_left = is_pair ? i % 2u == 0u : i < half_dims;
  const uint pair = is_pair ? i / 2u : i % half_dims, step = is_pair ? 1u : half_dims;
  const vec2 angle = angles[call.angles_at + r * half_dims + pair];
  if (is_left) return sub(mul(x, angle.x), mul(number(is_key, at + d + step), angle.y));
  return add(mul(number(is_key, at + d - step), angle.y), mul(x, angle.x));
}

/// Stores four numbers as a type, if is_there. For q8_0, eight threads share a scale, and the result equals
/// round_to_q8. Must be called by all threads of a work group.
void store(uint type, uint at, uint scale_at, bool is_there, vec4 x) {
  if (type == 0u) {
    if (!is_there) return;
    [[unroll]] for (uint k = 0u; k < 4u; ++k) pool[at + k] = floatBitsToUint(x[k]);
    return;
  }
  if (type == 1u) {
    if (!is_there) return;
    pool[at] = half_of(x.x) | half_of(x.y) << 16;
    pool[at + 1u] = half_of(x.z) | half_of(x.w) << 16;
    return;
  }
  // Compared as integers, the bits of |x| are ordered like the numbers; NaN is largest.
  const uvec4 bits = floatBitsToUint(x) & 0x7fffffffu;
  const uint thread = gl_LocalInvocationID.x;
  barrier();  // the previous sizes may still be read
  sizes[thread] = max(max(bits.x, bits.y), max(bits.z, bits.w));
  barrier();
  if (!is_there) return;
  uint top = 0u;
  [[unroll]] for (uint i = 0u; i < 8u; ++i) top = max(top, sizes[thread / 8u * 8u + i]);
  const float most = uintBitsToFloat(top);
  const bool is_number = top < 0x7f800000u, nothing = most < 1e-30;  // below that, 127 / most could overflow
  const float reciprocal = nothing || !is_number ? 0.0 : divide(127.0, most);
  uint quants = 0u;
  if (is_number) {
    // Adding 1.5 · 2²³ rounds to an integer, which is then in the low bits of the float.
    [[unroll]] for (int k = 0; k < 4; ++k)
      quants |= (floatBitsToUint(add(mul(x[k], reciprocal), 12582912.0)) & 255u) << 8 * k;
  }
  pool[at] = quants;
  if (thread % 8u == 0u)
    pool[scale_at] = floatBitsToUint(!is_number ? most : nothing ? 0.0 : divide(most, 127.0));
}

void main() {
  const uint r = gl_WorkGroupID.x, head = gl_WorkGroupID.y, dim = call.dim;
  if (head < call.heads) {
    const uint from = call.q_at + r * call.q_stride + head * dim;
    const uint to = call.turned_at + r * call.turned_stride + head * dim;
    float scale = call.scale;
    if (call.scales_at != none) scale = scales[call.scales_at + r];
    for (uint d = gl_LocalInvocationID.x; d < dim; d += 64u) rotated[to + d] = mul(rotated_value(false, from, r, d), scale);
    return;
  }
  const uint of = head - call.heads, key = call.k_at + r * call.k_stride + of * dim;
  const uint value = call.v_at + r * call.v_stride + of * dim;
  const uint place = written[call.written_at + r], slot = place % 64u;
  const uint at = call.pool_at + place / 64u * call.block_words + of * call.head_words;
  const uint fours = (dim + 3u) / 4u, scales = (dim + 31u) / 32u;
  for (uint from = 0u; from < dim; from += 256u) {
    const uint d = from + 4u * gl_LocalInvocationID.x;
    vec4 x = vec4(0.0), y = vec4(0.0);
    [[unroll]] for (uint k = 0u; k < 4u; ++k) {
      if (d + k >= dim) continue;
      x[k] = rotated_value(true, key, r, d + k);
      if (call.v_at != none) y[k] = v[value + d + k];
    }
    store(call.key_type, at + (d / 4u * 64u + slot) * (4u >> call.key_type),
          at + call.key_scales + d / 32u * 64u + slot, d < dim, x);
    if (call.v_at == none) continue;
    store(call.value_type, at + call.values + (slot * fours + d / 4u) * (4u >> call.value_type),
          at + call.value_scales + slot * scales + d / 32u, d < dim, y);
  }
}
