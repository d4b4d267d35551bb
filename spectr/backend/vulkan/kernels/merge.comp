#version 460
// The chunks of a row become its heads. A group has 128 columns of a row, four for each of 32 threads; eight
// such teams have the chunks c ≡ team mod 8: grid (rows, heads · dim / 128). With M the largest score:
//
//     eight sums of e^(M_c − M) · (Σ w v)_c and of e^(M_c − M) · (Σ w)_c, ascending, each eight added as a
//     tree, neighbours first; the one by the other
//
// QUANTIZES: whether the rows are quantized, too.
#extension GL_GOOGLE_include_directive : require
#define GROUP 256
#define QUANTIZED 4
#include "arithmetic.glsl"

layout(local_size_x = GROUP) in;
layout(binding = 0) readonly buffer Parts {
  float parts[];
};
layout(binding = 1) readonly buffer Plan {
  int plan[];  // see AttentionRow
};
layout(binding = 2) readonly buffer Sinks {
  float sinks[];
};
layout(binding = 3) writeonly buffer Out {
  float result[];
};
layout(push_constant) uniform Parameters {
  uint parts_at, plan_at, sinks_at, out_at, out_stride;
  uint heads, kv_heads, dim;
  uint quantized_at, quantized_scales_at, quantized_sums_at, quantized_slab, quantized_tiles;
} call;

#if QUANTIZES
#include "quantize.glsl"
#endif

const uint teams = 8u;
shared float largest[teams][32];
shared float sums[teams][32];
shared vec4 values[teams][32];

vec4 add_fours(vec4 a, vec4 b) {
  return vec4(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w));
}
vec4 mul_fours(float a, vec4 b) {
  return vec4(mul(a, b.x), mul(a, b.y), mul(a, b.z), mul(a, b.w));
}

/// Where chunk c has the head's numbers.
uint part(uint row, uint c, uint head) {
  const uint shared_chunks = uint(plan[row + 1u]), group = call.heads / call.kv_heads;
  const bool is_shared = c < shared_chunks;
  const uint rows = is_shared ? uint(plan[row + 3u]) : 1u, place = is_shared ? uint(plan[row + 4u]) : 0u;
  const uint at = is_shared ? uint(plan[row + 2u]) + c * rows : uint(plan[row + 5u]) + c - shared_chunks;
  return call.parts_at +
         (at * call.heads + head / group * rows * group + place * group + head % group) * (call.dim + 4u);
}

void main() {
  const uint r = gl_WorkGroupID.x, team = gl_LocalInvocationID.x / 32u, lane = gl_LocalInvocationID.x % 32u;
  const uint width = call.heads * call.dim, column = gl_WorkGroupID.y * 128u + 4u * lane;
  const uint head = column < width ? column / call.dim : 0u, d = column % call.dim;
  const uint row = call.plan_at + r * 8u, chunks = uint(plan[row]);
  float most = -infinity;
  for (uint c = team; c < chunks; c += teams) most = larger(most, parts[part(row, c, head) + call.dim]);
  largest[team][lane] = most;
  barrier();
  [[unroll]] for (uint s = 0u; s < teams; ++s) most = larger(most, largest[s][lane]);
  float sink = -infinity;
  if (call.sinks_at != none) sink = sinks[call.sinks_at + head];
  most = larger(most, sink);
  float sum = 0.0;
  vec4 value = vec4(0.0);
  for (uint c = team; c < chunks; c += teams) {
    const uint at = part(row, c, head);
    const float factor = exp_of_negative(sub(parts[at + call.dim], most));
    sum = add(sum, mul(factor, parts[at + call.dim + 1u]));
    const vec4 one = vec4(parts[at + d], parts[at + d + 1u], parts[at + d + 2u], parts[at + d + 3u]);
    value = add_fours(value, mul_fours(factor, one));
  }
  sums[team][lane] = sum;
  values[team][lane] = value;
  barrier();
  for (uint h = 1u; h < teams; h *= 2u) {
    if (team % (2u * h) == 0u) {
      sums[team][lane] = add(sums[team][lane], sums[team + h][lane]);
      values[team][lane] = add_fours(values[team][lane], values[team + h][lane]);
    }
    barrier();
  }
  sum = sums[0][lane];
  if (call.sinks_at != none) sum = add(sum, exp_of_negative(sub(sink, most)));
  const bool is_mine = team == 0u && column < width;
  vec4 y = vec4(0.0);
  if (is_mine) {
    y = mul_fours(divide(1.0, sum), values[0][lane]);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) result[call.out_at + r * call.out_stride + column + i] = y[i];
  }
#if QUANTIZES
  quantize_four(y, r, column, team == 0u && column < whole_blocks(width));
#endif
}
