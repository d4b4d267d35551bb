#version 460
// Computes x = silu(x), and x / max(‖x‖, ε) for query and key heads. The sum of squares is the pairwise sum
// over 128 threads, each with every 128th dimension. Scales queries, and stores keys and decays at the
// tokens. Grid: (rows, heads of queries, keys and values).
#extension GL_GOOGLE_include_directive : require
#define GROUP 128
#include "arithmetic.glsl"
#include "states.glsl"

layout(local_size_x = GROUP) in;
layout(binding = 0) writeonly buffer Pool {
  float pool[];
};
layout(binding = 1) readonly buffer Rows {
  int rows[];
};
layout(binding = 2) buffer X {
  float x[];
};
layout(binding = 3) readonly buffer Alpha {
  float alpha[];
};
layout(binding = 4) readonly buffer A {
  float a[];
};
layout(binding = 5) readonly buffer Bias {
  float dt_bias[];
};
layout(push_constant) uniform Parameters {
  uint pool_at, keys, decays, rows_at;
  uint x_at, x_stride, alpha_at, alpha_stride, a_at, bias_at;
  uint key_heads, dim;
  float epsilon, query_scale;
} call;

shared float sums[GROUP];

void main() {
  const uint r = gl_WorkGroupID.x, head = gl_WorkGroupID.y, thread = gl_LocalInvocationID.x;
  const uint row = call.rows_at + r * row_words;
  const uint own = call.pool_at + number_of(rows[row + row_path + grid_tokens + uint(rows[row + row_since])]);
  const uint first = call.x_at + r * call.x_stride + head * call.dim;
  float mine = 0.0;
  for (uint i = thread; i < call.dim; i += GROUP) {
    const float v = sigmoid_of(x[first + i], x[first + i]);
    x[first + i] = v;
    mine = add(mine, mul(v, v));
  }
  if (head >= 2u * call.key_heads) {
    if (thread > 0u) return;
    const uint value = head - 2u * call.key_heads;
    const float g = softplus(add(alpha[call.alpha_at + r * call.alpha_stride + value], dt_bias[call.bias_at + value]));
    pool[own + call.decays + value] = mul(g, a[call.a_at + value]);
    return;
  }
  sums[thread] = mine;
  barrier();
  for (uint h = 1u; h < GROUP; h *= 2u) {
    if (thread % (2u * h) == 0u) sums[thread] = add(sums[thread], sums[thread + h]);
    barrier();
  }
  const float size = root(sums[0]);
  const float factor = divide(1.0, size < call.epsilon ? call.epsilon : size);
  for (uint i = thread; i < call.dim; i += GROUP) {
    const float v = mul(x[first + i], factor);
    if (head < call.key_heads) {
      x[first + i] = mul(v, call.query_scale);
    } else {
      pool[own + call.keys + (head - call.key_heads) * call.dim + i] = v;
    }
  }
}
