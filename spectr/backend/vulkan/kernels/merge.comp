#version 460
// Merges a row's chunks into its heads. A work group has 128 columns of a row, four for each of 32 threads;
// eight teams have the chunks c ≡ team mod 8. Grid: (rows, heads · dim / 128). M is the maximum score:
//
//     eight sums of e^(M_c − M) · (Σ w v)_c and of e^(M_c − M) · (Σ w)_c, ascending, each eight added as a
//     tree, neighbours first; the result is their quotient
//
// If QUANTIZES is 1, the rows are also quantized.
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

layout(constant_id = 0) const uint HEADS = 1u;  // heads among four columns: 1 if 4 divides dim, else 4

const uint teams = 8u;
shared float largest[teams][HEADS][32];
shared float sums[teams][HEADS][32];
shared vec4 values[teams][32];

vec4 add_fours(vec4 a, vec4 b) {
  return vec4(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w));
}

/// Returns the size of a query's partial result.
uint numbers() {
  return (call.dim + 3u) / 4u * 4u + 4u;
}

/// Returns the offset of the head's partial result for chunk c.
uint part(uint row, uint c, uint head) {
  const uint shared_chunks = uint(plan[row + 1u]), group = call.heads / call.kv_heads;
  const bool is_shared = c < shared_chunks;
  const uint rows = is_shared ? uint(plan[row + 3u]) : 1u, place = is_shared ? uint(plan[row + 4u]) : 0u;
  const uint at = is_shared ? uint(plan[row + 2u]) + c * rows : uint(plan[row + 5u]) + c - shared_chunks;
  return call.parts_at +
         (at * call.heads + head / group * rows * group + place * group + head % group) * numbers();
}

void main() {
  const uint r = gl_WorkGroupID.x, team = gl_LocalInvocationID.x / 32u, lane = gl_LocalInvocationID.x % 32u;
  const uint width = call.heads * call.dim, column = gl_WorkGroupID.y * 128u + 4u * lane;
  const uint row = call.plan_at + r * 8u, chunks = uint(plan[row]), scores = numbers() - 4u;
  uint head[HEADS];
  float most[HEADS], sum[HEADS], sink[HEADS];
  [[unroll]] for (uint i = 0u; i < HEADS; ++i) {
    head[i] = column + i < width ? (column + i) / call.dim : 0u;
    most[i] = -infinity;
    for (uint c = team; c < chunks; c += teams) most[i] = larger(most[i], parts[part(row, c, head[i]) + scores]);
    largest[team][i][lane] = most[i];
  }
  barrier();
  [[unroll]] for (uint i = 0u; i < HEADS; ++i) {
    [[unroll]] for (uint s = 0u; s < teams; ++s) most[i] = larger(most[i], largest[s][i][lane]);
    sink[i] = -infinity;
    if (call.sinks_at != none) sink[i] = sinks[call.sinks_at + head[i]];
    most[i] = larger(most[i], sink[i]);
    sum[i] = 0.0;
  }
  vec4 value = vec4(0.0);
  for (uint c = team; c < chunks; c += teams) {
    uint at[HEADS];
    float factor[HEADS];
    [[unroll]] for (uint i = 0u; i < HEADS; ++i) {
      at[i] = part(row, c, head[i]);
      factor[i] = exp_of_negative(sub(parts[at[i] + scores], most[i]));
      sum[i] = add(sum[i], mul(factor[i], parts[at[i] + scores + 1u]));
    }
    [[unroll]] for (uint k = 0u; k < 4u; ++k) {
      const uint i = min(k, HEADS - 1u);
      value[k] = add(value[k], mul(factor[i], parts[at[i] + (column + k) % call.dim]));
    }
  }
  [[unroll]] for (uint i = 0u; i < HEADS; ++i) sums[team][i][lane] = sum[i];
  values[team][lane] = value;
  barrier();
  for (uint h = 1u; h < teams; h *= 2u) {
    if (team % (2u * h) == 0u) {
      [[unroll]] for (uint i = 0u; i < HEADS; ++i)
        sums[team][i][lane] = add(sums[team][i][lane], sums[team + h][i][lane]);
      values[team][lane] = add_fours(values[team][lane], values[team + h][lane]);
    }
    barrier();
  }
  float factor[HEADS];
  [[unroll]] for (uint i = 0u; i < HEADS; ++i) {
    float all = sums[0][i][lane];
    if (call.sinks_at != none) all = add(all, exp_of_negative(sub(sink[i], most[i])));
    factor[i] = divide(1.0, all);
  }
  vec4 y = vec4(0.0);
  [[unroll]] for (uint k = 0u; k < 4u; ++k) {
    if (team > 0u || column + k >= width) continue;
    y[k] = mul(factor[min(k, HEADS - 1u)], values[0][lane][k]);
    result[call.out_at + r * call.out_stride + column + k] = y[k];
  }
#if QUANTIZES
  quantize_four(y, r, column, team == 0u && column < whole_blocks(width));
#endif
}
