#version 460
// Computes the maximum m of a segment of 1024 numbers, and Σ e^(factor (x − m)) as a pairwise sum. Grid:
// (segments, rows).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 512) in;
layout(binding = 0) readonly buffer X {
  float logits[];
};
layout(binding = 1) writeonly buffer Out {
  float result[];
};
layout(push_constant) uniform Parameters {
  uint x_at, x_stride, size, out_at;
  float factor;
} call;

shared float numbers[512];

float number(uint i) {
  return i < call.size ? logits[call.x_at + gl_WorkGroupID.y * call.x_stride + i] : -infinity;
}
/// Returns 0 for −∞, even if the whole segment is −∞.
float term(float x, float most) {
  return x == -infinity ? 0.0 : exp_of_negative(mul(call.factor, sub(x, most)));
}

void main() {
  const uint thread = gl_LocalInvocationID.x, i = gl_WorkGroupID.x * 1024u + 2u * thread;
  const float a = number(i), b = number(i + 1u);
  numbers[thread] = larger(a, b);
  barrier();
  for (uint h = 256u; h > 0u; h /= 2u) {
    if (thread < h) numbers[thread] = larger(numbers[thread], numbers[thread + h]);
    barrier();
  }
  const float most = numbers[0];
  barrier();
  numbers[thread] = add(term(a, most), term(b, most));
  barrier();
  for (uint h = 1u; h < 512u; h *= 2u) {
    if (thread % (2u * h) == 0u) numbers[thread] = add(numbers[thread], numbers[thread + h]);
    barrier();
  }
  if (thread == 0u) {
    const uint part = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    result[call.out_at + 2u * part] = most;
    result[call.out_at + 2u * part + 1u] = numbers[0];
  }
}
