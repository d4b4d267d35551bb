#version 460
// Computes result[c] = Σ_j w[c][j] · input[c] of the token kernel − 1 − j before the row's, ascending, times
// a factor, if given. States that become frames get the inputs of the tokens before them. A work group has
// 128 channels of a row or, after the rows, of a state. Grid: (rows + states, channels / 128).
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
layout(binding = 3) readonly buffer Weight {
  float weight[];
};
layout(binding = 4) readonly buffer Factor {
  float factor[];
};
layout(binding = 5) writeonly buffer Out {
  float result[];
};
layout(push_constant) uniform Parameters {
  uint pool_at, channels, kernel, inputs, frame_inputs;
  uint rows_at, row_count, steps_at;
  uint weight_at, factor_at, factor_stride, out_at, out_stride;
} call;

void main() {
  const uint r = gl_WorkGroupID.x, c = gl_WorkGroupID.y * 128u + gl_LocalInvocationID.x;
  if (c >= call.channels) return;
  if (r < call.row_count) {
    const uint row = call.rows_at + r * row_words;
    const uint path = row + row_path + grid_tokens + uint(rows[row + row_since]) + 1u - call.kernel;
    float sum = 0.0;
    for (uint j = 0u; j < call.kernel; ++j) {
      const int token = rows[path + j];
      if (token < 0) continue;
      const float number = pool[call.pool_at + number_of(token) + call.inputs + c];
      sum = add(sum, mul(weight[call.weight_at + c * call.kernel + j], number));
    }
    if (call.factor_at != none) sum = mul(sum, factor[call.factor_at + r * call.factor_stride + c]);
    result[call.out_at + r * call.out_stride + c] = sum;
    return;
  }
  const uint step = call.steps_at + (r - call.row_count) * step_words;
  if (steps[step + step_is_new] == 0 || steps[step + step_at + 1u] == 0) return;
  const uint frame = call.pool_at + number_of(steps[step + step_at]) + call.frame_inputs + c;
  for (uint i = 0u; i + 1u < call.kernel; ++i) {
    const int token = steps[step + step_tokens + grid_tokens - 1u - i];
    pool[frame + i * call.channels] = pool[call.pool_at + number_of(token) + call.inputs + c];
  }
}
