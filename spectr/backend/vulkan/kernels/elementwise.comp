#version 460
// Elementwise operations. A thread has four columns of a row. Grid: (rows, columns / 512). If QUANTIZES is 1,
// the rows are also quantized.
#extension GL_GOOGLE_include_directive : require
#define GROUP 128
#define QUANTIZED 3
#include "arithmetic.glsl"

layout(local_size_x = GROUP) in;
layout(binding = 0) readonly buffer A {
  float a[];
};
layout(binding = 1) readonly buffer B {
  float b[];
};
layout(binding = 2) writeonly buffer Out {
  float result[];  // may alias an input: a thread reads a number before it writes it
};
layout(push_constant) uniform Parameters {
  uint operation;  // Operation and Activation, see dispatch.cc
  uint a_at, a_stride, b_at, b_stride, out_at, out_stride, cols, gates;
  float factor;
  uint quantized_at, quantized_scales_at, quantized_sums_at, quantized_slab, quantized_tiles;
} call;

#if QUANTIZES
#include "quantize.glsl"
#endif

float gelu(float x) {
  return sigmoid_of(mul(1.5957691216, add(x, mul(0.044715, mul(mul(x, x), x)))), x);
}

float clamped_silu(float gate, float up) {
  const float limit = call.factor;
  const float g = gate > limit ? limit : gate, u = up > limit ? limit : up < -limit ? -limit : up;
  return mul(mul(g, sigmoid_of(mul(1.702, g), 1.0)), add(u, 1.0));
}

float of_numbers(float x, float y) {
  switch (call.operation) {
    case 1: return add(x, y);
    case 2: return mul(x, call.factor);
    case 3: return soft_cap(x, call.factor);
    case 4: return mul(x, sigmoid_of(y, 1.0));
    case 5: return mul(sigmoid_of(x, x), y);
    case 6: return mul(gelu(x), y);
    case 7: return mul(x < 0.0 ? 0.0 : x, y);
    case 8: return clamped_silu(x, y);
  }
  return x;
}

void main() {
  const uint r = gl_WorkGroupID.x, first = 4u * (gl_WorkGroupID.y * GROUP + gl_LocalInvocationID.x);
  vec4 v = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    const uint j = first + i;
    if (j >= call.cols) continue;
    float y = 1.0;
    if (call.b_at != none) y = b[call.b_at + r * call.b_stride + (call.gates == 1u ? 0u : j)];
    v[i] = of_numbers(a[call.a_at + r * call.a_stride + j], y);
    result[call.out_at + r * call.out_stride + j] = v[i];
  }
#if QUANTIZES
  quantize_four(v, r, first, first < whole_blocks(call.cols));
#endif
}
