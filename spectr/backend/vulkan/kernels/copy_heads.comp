#version 460
// Copies the first columns of each head of a row. Grid: (rows, heads · columns / 128).
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer From {
  uint from[];
};
layout(binding = 1) writeonly buffer To {
  uint to[];
};
layout(push_constant) uniform Parameters {
  uint from_at, from_stride, from_head_stride, to_at, to_stride, to_head_stride, cols, heads;
} call;

void main() {
  const uint r = gl_WorkGroupID.x, i = gl_WorkGroupID.y * 128u + gl_LocalInvocationID.x;
  if (i >= call.heads * call.cols) return;
  const uint head = i / call.cols, j = i % call.cols;
  to[call.to_at + r * call.to_stride + head * call.to_head_stride + j] =
      from[call.from_at + r * call.from_stride + head * call.from_head_stride + j];
}
