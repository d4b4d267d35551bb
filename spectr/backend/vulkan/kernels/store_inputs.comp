#version 460
// Stores the convolutions' inputs at the rows' tokens, and copies those of frames to the tokens before states
// that restore them. A work group has 128 channels of a row or, after the rows, of a state. Grid: (rows +
// states, channels / 128).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"
#include "states.glsl"

layout(local_size_x = 128) in;
layout(binding = 0) buffer Pool {
  float pool[];
};
layout(binding = 1) readonly buffer Rows {
  int rows[];
};
layout(binding = 2) readonly buffer Steps {
  int steps[];
};
layout(binding = 3) readonly buffer In {
  float x[];
};
layout(binding = 4) readonly buffer By {
  float by[];
};
layout(push_constant) uniform Parameters {
  uint pool_at, channels, kernel, inputs, frame_inputs;
  uint rows_at, row_count, steps_at;
  uint in_at, in_stride, by_at, by_stride;
} call;

void main() {
  const uint r = gl_WorkGroupID.x, c = gl_WorkGroupID.y * 128u + gl_LocalInvocationID.x;
  if (c >= call.channels) return;
  if (r < call.row_count) {
    const uint row = call.rows_at + r * row_words;
    const int own = rows[row + row_path + grid_tokens + uint(rows[row + row_since])];
    float v = x[call.in_at + r * call.in_stride + c];
    if (call.by_at != none) v = mul(v, by[call.by_at + r * call.by_stride + c]);
    pool[call.pool_at + number_of(own) + call.inputs + c] = v;
    return;
  }
  const uint step = call.steps_at + (r - call.row_count) * step_words;
  if (steps[step + step_restores] == 0) return;
  const uint frame = call.pool_at + number_of(steps[step + step_at]) + call.frame_inputs + c;
  for (uint i = 0u; i + 1u < call.kernel; ++i) {
    const int token = steps[step + step_tokens + grid_tokens - 1u - i];
    pool[call.pool_at + number_of(token) + call.inputs + c] = pool[frame + i * call.channels];
  }
}
