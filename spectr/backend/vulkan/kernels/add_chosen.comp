#version 460
// Adds to each slot the vector of its chosen expert. A thread has four columns. Grid: (slots, columns / 512).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer Chosen {
  uint chosen[];
};
layout(binding = 1) buffer To {
  float to[];
};
layout(binding = 2) readonly buffer From {
  float from[];
};
layout(push_constant) uniform Parameters {
  uint chosen_at, first, blocks;
  uint to_at, to_stride, from_at, cols;
} call;

void main() {
  const uint slot = gl_WorkGroupID.x, column = 4u * (gl_WorkGroupID.y * 128u + gl_LocalInvocationID.x);
  const uint block = chosen[call.chosen_at + slot] - call.first;
  if (block >= call.blocks) return;
  for (uint j = column; j < min(column + 4u, call.cols); ++j) {
    const uint at = call.to_at + slot * call.to_stride + j;
    to[at] = add(to[at], from[call.from_at + block * call.cols + j]);
  }
}
