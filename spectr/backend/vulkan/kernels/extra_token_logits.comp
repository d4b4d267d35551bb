#version 460
// Logits of extra tokens, with a weight row each: scale · (weights · x + bias), capped. A group of 512
// threads has 16 tokens, and a thread has a token and a segment: the blocks b ≡ segment mod 32 of 64 columns,
// ascending. Grid: (words / 16).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 512) in;
layout(binding = 0) readonly buffer X {
  float x[];
};
layout(binding = 1) readonly buffer Words {
  int words[];  // see ExtraToken
};
layout(binding = 2) readonly buffer Weights {
  float weights[];
};
layout(binding = 3) writeonly buffer Out {
  float result[];
};
layout(push_constant) uniform Parameters {
  uint x_at, x_stride, words_at, weights_at, weights_stride, out_at, out_stride, cols;
  float scale, cap;
} call;

const uint segments = 32u;
shared float sums[segments][16];

void main() {
  const uint segment = gl_LocalInvocationID.x % segments, mine = gl_LocalInvocationID.x / segments;
  const uint word = call.words_at + 3u * (gl_WorkGroupID.x * 16u + mine);
  const int token = words[word + 2u];
  const uint row = uint(words[word]), cols = token < 0 ? 0u : call.cols;
  const uint w_at = call.weights_at + uint(words[word + 1u]) * call.weights_stride;
  const uint x_at = call.x_at + row * call.x_stride;
  float sum = 0.0;
  for (uint first = 64u * segment; first < cols; first += 64u * segments) {
    float t = 0.0;
    for (uint j = first; j < min(first + 64u, cols); ++j) t = add(t, mul(weights[w_at + j], x[x_at + j]));
    sum = add(sum, t);
  }
  sums[segment][mine] = sum;
  barrier();
  for (uint h = 1u; h < segments; h *= 2u) {
    if (segment % (2u * h) == 0u) sums[segment][mine] = add(sums[segment][mine], sums[segment + h][mine]);
    barrier();
  }
  if (segment != 0u || token < 0) return;
  // −0 becomes 0.
  const float logit = mul(add(add(sums[0][mine], 0.0), weights[w_at + call.cols]), call.scale);
  result[call.out_at + row * call.out_stride + uint(token)] = call.cap > 0.0 ? soft_cap(logit, call.cap) : logit;
}
