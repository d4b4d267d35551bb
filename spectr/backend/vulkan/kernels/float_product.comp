#version 460
// y = W x for f32, f16 or bf16 weights in the file's layout. For each block:
//
//     t = Σ w x, ascending,    segment's sum += t
//
// Each product and each sum is rounded separately.
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(binding = 0) readonly buffer Weights {
  uint weights[];
};
layout(binding = 1) readonly buffer X {
  float x[];
};
layout(binding = 2) writeonly buffer Y {
  float y[];
};
layout(push_constant) uniform Parameters {
  uint weights_at;  // in numbers
  uint x_at, x_stride;
  uint rows, cols, n, kind;  // kind 0: f32, 1: f16, 2: bf16
  uint y_at, y_stride;
  uint panels, x_head_stride, y_head_stride;  // panels of 16 rows per head; head strides in words
  uint lists_at, slots_at, sharers, first_expert, experts;
} call;

#define LISTS 3
#define EXPERTS 1

#include "product.glsl"

float weight(uint i) {
  if (call.kind == 0u) return uintBitsToFloat(weights[i]);
  const uint bits = weights[i / 2u] >> i % 2u * 16u;
  return call.kind == 1u ? of_half(bits) : uintBitsToFloat(bits << 16);
}

/// Computes sums of the segment's blocks for N rows of the task; the row of W begins at `at`.
void sum_segment(Task task, uint first, uint at, uint row, uint segment) {
  const uint blocks = (call.cols + 63u) / 64u;
  uint x_at[N];
  float mine[N];
  [[unroll]] for (uint i = 0u; i < N; ++i) {
    x_at[i] = call.x_at + head_of_group() * call.x_head_stride + row_of_x(task, first + i) * call.x_stride;
    mine[i] = 0.0;
  }
  for (uint b = segment; b < blocks; b += segments) {
    float t[N];
    [[unroll]] for (uint i = 0u; i < N; ++i) t[i] = 0.0;
    for (uint j = 64u * b; j < min(64u * b + 64u, call.cols); ++j) {
      const float w = weight(at + j);
      [[unroll]] for (uint i = 0u; i < N; ++i) t[i] = add(t[i], mul(w, x[x_at[i] + j]));
    }
    [[unroll]] for (uint i = 0u; i < N; ++i) mine[i] = add(mine[i], t[i]);
  }
  [[unroll]] for (uint i = 0u; i < N; ++i) sums[i][segment][row] = mine[i];
}

void main() {
  // Adjacent threads have adjacent blocks of one row.
  const uint segment = gl_LocalInvocationID.x % segments, row = gl_LocalInvocationID.x / segments;
  const Task task = task_of_group();
  const uint of_w =
      (task.expert + head_of_group()) * call.rows + min(panel_of_group() * 16u + row, call.rows - 1u);
  const uint at = call.weights_at + of_w * call.cols;
  for (uint first = task.first; first < task.n; first += task.step) {
    sum_segment(task, first, at, row, segment);
    finish_product(task, row, segment, first);
  }
}
