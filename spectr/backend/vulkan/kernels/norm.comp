#version 460
// Norms of rows, or of groups of their columns. Grid: (rows, groups). Thread i has columns 4 i … 4 i + 3 of
// every 2048. If QUANTIZES is 1, the rows are also quantized (one group only).
#extension GL_GOOGLE_include_directive : require
#define GROUP 512
#define QUANTIZED 6
#include "arithmetic.glsl"

layout(local_size_x = GROUP) in;
layout(binding = 0) buffer In {
  float x[];
};
layout(binding = 1) readonly buffer Added {
  float added[];
};
layout(binding = 2) writeonly buffer Out {
  float result[];  // may alias x: a thread reads a number before it writes it
};
layout(binding = 3) readonly buffer Weight {
  float weight[];
};
layout(binding = 4) readonly buffer Bias {
  float bias[];
};
layout(binding = 5) readonly buffer Picked {
  uint picked[];
};
layout(push_constant) uniform Parameters {
  uint in_at, in_stride, added_at, added_stride, out_at, out_stride, weight_at, bias_at, picked_at;
  uint cols, is_rms;
  float epsilon, part_of_mean;
  uint quantized_at, quantized_scales_at, quantized_sums_at, quantized_slab, quantized_tiles;
} call;

#if QUANTIZES
#include "quantize.glsl"
#endif

shared float sums[GROUP];

/// Returns the contribution of column j to a sum: its deviation from the mean, or the square of that.
float part_of(uint first, uint j, float mean, bool squares) {
  if (j >= call.cols) return 0.0;
  const float d = sub(x[first + j], mean);
  return squares ? mul(d, d) : d;
}

/// Returns the sum over columns in every thread: first over a thread's columns, then pairwise over threads.
float sum_of_columns(uint first, float mean, bool squares) {
  const uint thread = gl_LocalInvocationID.x;
  float mine = 0.0;
  for (uint j = 4u * thread; j < call.cols; j += 4u * GROUP) {
    const float low = add(part_of(first, j, mean, squares), part_of(first, j + 1u, mean, squares));
    const float high = add(part_of(first, j + 2u, mean, squares), part_of(first, j + 3u, mean, squares));
    mine = add(mine, add(low, high));
  }
  barrier();  // the previous sums may still be read
  sums[thread] = mine;
  barrier();
  for (uint h = 1u; h < GROUP; h *= 2u) {
    if (thread % (2u * h) == 0u) sums[thread] = add(sums[thread], sums[thread + h]);
    barrier();
  }
  return sums[0];
}

void main() {
  const uint r = gl_WorkGroupID.x, thread = gl_LocalInvocationID.x, group = gl_WorkGroupID.y * call.cols;
  const uint from = call.picked_at != none ? picked[call.picked_at + r] : r;
  const uint first = call.in_at + from * call.in_stride + group;
  if (call.added_at != none) {
    const uint more = call.added_at + r * call.added_stride + group;
    for (uint i = 4u * thread; i < call.cols; i += 4u * GROUP) {
      for (uint j = i; j < min(i + 4u, call.cols); ++j) x[first + j] = add(x[first + j], added[more + j]);
    }
  }
  const bool is_rms = call.is_rms != 0u;
  const float mean = is_rms ? 0.0 : mul(sum_of_columns(first, 0.0, false), call.part_of_mean);
  const float variance = mul(sum_of_columns(first, mean, true), call.part_of_mean);
  const float factor = divide(1.0, root(add(variance, call.epsilon)));
#if QUANTIZES
  const uint end = whole_blocks(call.cols);
#else
  const uint end = call.cols;
#endif
  for (uint start = 0u; start < end; start += 4u * GROUP) {  // all threads run the same number of iterations
    const uint i = start + 4u * thread;
    vec4 v = vec4(0.0);
    [[unroll]] for (uint k = 0u; k < 4u; ++k) {
      const uint j = i + k;
      if (j >= call.cols) continue;
      v[k] = mul(sub(x[first + j], mean), factor);
      if (call.weight_at != none) v[k] = mul(v[k], weight[call.weight_at + j]);
      if (call.bias_at != none) v[k] = add(v[k], bias[call.bias_at + j]);
      result[call.out_at + r * call.out_stride + group + j] = v[k];
    }
#if QUANTIZES
    quantize_four(v, r, i, i < end);
#endif
  }
}
