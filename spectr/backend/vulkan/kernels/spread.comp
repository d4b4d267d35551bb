#version 460
// Expands shortlist logits to the vocabulary: out[r][j] = some[r][columns[j]], or −∞ if columns[j] is −1. A
// thread has four columns of a row. Grid: (rows, columns / 512).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer Some {
  float some[];
};
layout(binding = 1) readonly buffer Columns {
  int columns[];
};
layout(binding = 2) writeonly buffer Out {
  float result[];
};
layout(push_constant) uniform Parameters {
  uint some_at, some_stride, columns_at, out_at, out_stride, cols;
} call;

void main() {
  const uint r = gl_WorkGroupID.x, first = 4u * (gl_WorkGroupID.y * 128u + gl_LocalInvocationID.x);
  for (uint j = first; j < min(first + 4u, call.cols); ++j) {
    const int column = columns[call.columns_at + j];
    float logit = -infinity;
    if (column >= 0) logit = some[call.some_at + r * call.some_stride + uint(column)];
    result[call.out_at + r * call.out_stride + j] = logit;
  }
}
