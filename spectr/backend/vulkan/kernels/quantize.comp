#version 460
// Quantizes rows for products, separately for each head. A thread has four columns of a row. Grid: (rows,
// heads · columns / 512).
#extension GL_GOOGLE_include_directive : require
#define GROUP 128
#define QUANTIZED 1
#include "arithmetic.glsl"

layout(local_size_x = GROUP) in;
layout(binding = 0) readonly buffer In {
  float x[];
};
layout(push_constant) uniform Parameters {
  uint in_at, in_stride, cols, groups, in_head_stride, out_head_stride;  // groups per head; head strides in words
  uint quantized_at, quantized_scales_at, quantized_sums_at, quantized_slab, quantized_tiles;
} call;

#include "quantize.glsl"

void main() {
  const uint r = gl_WorkGroupID.x, head = gl_WorkGroupID.y / call.groups;
  const uint first = 4u * (gl_WorkGroupID.y % call.groups * GROUP + gl_LocalInvocationID.x);
  const uint from = call.in_at + head * call.in_head_stride + r * call.in_stride;
  vec4 v = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    if (first + i < call.cols) v[i] = x[from + first + i];
  }
  quantized_behind = head * call.out_head_stride;
  quantize_four(v, r, first, first < whole_blocks(call.cols));
}
