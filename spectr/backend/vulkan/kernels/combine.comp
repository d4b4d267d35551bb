#version 460
// out = Σ w · in over a row's slots, in ascending order starting from 0; slots with experts on other devices
// are skipped. A thread has four columns. Grid: (rows, columns / 512).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer Chosen {
  uint chosen[];
};
layout(binding = 1) readonly buffer Weights {
  float weights[];
};
layout(binding = 2) readonly buffer In {
  float numbers[];
};
layout(binding = 3) writeonly buffer Out {
  float result[];
};
layout(push_constant) uniform Parameters {
  uint chosen_at, first, blocks, weights_at;
  uint in_at, in_stride, out_at, out_stride;
  uint used, cols;
} call;

void main() {
  const uint r = gl_WorkGroupID.x, column = 4u * (gl_WorkGroupID.y * 128u + gl_LocalInvocationID.x);
  for (uint j = column; j < min(column + 4u, call.cols); ++j) {
    float sum = 0.0;
    for (uint slot = r * call.used; slot < (r + 1u) * call.used; ++slot) {
      if (chosen[call.chosen_at + slot] - call.first >= call.blocks) continue;
      sum = add(sum, mul(weights[call.weights_at + slot], numbers[call.in_at + slot * call.in_stride + j]));
    }
    result[call.out_at + r * call.out_stride + j] = sum;
  }
}
