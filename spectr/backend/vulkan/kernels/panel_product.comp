#version 460
// y = W x for quantized weights in panels (weight_panels.h) and quantized rows of x. For half h of a block:
//
//     t = s · float(Σ c q)  [ − m · float(Σ q) ],    segment's sum += a · t
//
// With scales of 16 columns, t is the sum of both scales' terms. Each product and sum is rounded separately,
// from left to right; integer sums are exact.
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(binding = 0) readonly buffer Codes {
  uvec4 codes[];
};
layout(binding = 1) readonly buffer Scales {
  uint scales[];
};
layout(binding = 2) readonly buffer Factors {
  uint factors[];
};
layout(binding = 3) readonly buffer XCodes {
  uvec4 x_codes[];
};
layout(binding = 4) readonly buffer XNumbers {
  float x_numbers[];
};
layout(binding = 5) writeonly buffer Y {
  float y[];
};
layout(push_constant) uniform Parameters {
  uint codes_at, scales_at, factors_at;  // in vectors, words, words
  uint x_at, x_scales_at, tiles;
  uint rows, blocks, n;
  uint y_at, y_stride;
  uint panels, x_head_stride, y_head_stride;  // panels per head; head strides in vectors and words
  uint lists_at, slots_at, sharers, first_expert, experts, x_slab;  // x_slab in bytes
} call;

#define LISTS 6
#define EXPERTS 9
#include "panels.glsl"
#include "product.glsl"

/// Computes the sums of the segment's blocks for N rows of the task.
void sum_segment(Task task, uint first, uint row, uint segment) {
  const uint panel = task.expert * call.panels + gl_WorkGroupID.y;
  const uint x_behind = head_of_group() * call.x_head_stride;
  float mine[N];
  uint rows[N];
  [[unroll]] for (uint i = 0u; i < N; ++i) {
    mine[i] = 0.0;
    rows[i] = row_of_x(task, first + i);
  }
  for (uint b = segment; b < call.blocks; b += segments) {
    uvec4 c[4];
    vec4 s, m;
    load_codes(panel * call.blocks + b, row, c);
    load_scales(panel * call.blocks + b, row, s, m);
    [[unroll]] for (uint i = 0u; i < N; ++i) {
      const uint r = rows[i], tile = b * call.tiles + r % 64u / 8u, g = r % 8u;
      const uint slab = of_experts ? r / 64u * call.x_slab : 0u;
      uvec4 q[4];  // q[t][k]: word 4 k + t
      [[unroll]] for (uint t = 0u; t < 4u; ++t)
        q[t] = x_codes[call.x_at + x_behind + slab / 16u + tile * 32u + 4u * g + t];
      [[unroll]] for (uint h = 0u; h < 2u; ++h) {
        const uint at = 4u * x_behind + slab / 4u + tile * 16u + g / 2u * 4u + h * 2u + g % 2u;
        mine[i] = add(mine[i], mul(x_numbers[call.x_scales_at + at], half_of_block(h, c, s, m, q)));
      }
    }
  }
  [[unroll]] for (uint i = 0u; i < N; ++i) sums[i][segment][row] = mine[i];
}

void main() {
  const uint row = gl_LocalInvocationID.x % 16u, segment = gl_LocalInvocationID.x / 16u;
  const Task task = task_of_group();
  for (uint first = task.first; first < task.n; first += task.step) {
    sum_segment(task, first, row, segment);
    finish_product(task, row, segment, first);
  }
}
