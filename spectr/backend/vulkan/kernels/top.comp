#version 460
// Finds the k best of a segment of 1024 numbers: NaN and +∞ first, then larger numbers, then lower tokens.
// Grid: (segments, rows).
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

layout(local_size_x = 512) in;
layout(binding = 0) readonly buffer X {
  float logits[];
};
layout(binding = 1) writeonly buffer Out {
  uvec2 result[];  // see Best
};
layout(push_constant) uniform Parameters {
  uint x_at, x_stride, size, k, out_at;
} call;

const uint segment = 1024u;
shared uvec2 best[segment];  // bits of the number, token

float key(uint bits) {
  const float x = uintBitsToFloat(bits);
  return is_nan(x) ? infinity : x;
}
bool is_before(uvec2 a, uvec2 b) {
  if (a.y == none || b.y == none) return b.y == none && a.y != none;
  const float x = key(a.x), y = key(b.x);
  return x != y ? x > y : a.y < b.y;
}

void main() {
  const uint thread = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * segment;
  const uint row_at = call.x_at + gl_WorkGroupID.y * call.x_stride;
  for (uint i = thread; i < segment; i += 512u) {
    best[i] = uvec2(0u, none);
    if (first + i < call.size) best[i] = uvec2(floatBitsToUint(logits[row_at + first + i]), first + i);
  }
  for (uint size = 2u; size <= segment; size *= 2u) {  // bitonic sort
    for (uint step = size / 2u; step > 0u; step /= 2u) {
      barrier();
      const uint i = 2u * step * (thread / step) + thread % step, j = i + step;
      const bool ascends = (i & size) == 0u;
      const uvec2 a = best[i], b = best[j];
      if (is_before(b, a) == ascends) {
        best[i] = b;
        best[j] = a;
      }
    }
  }
  barrier();
  const uint part = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  for (uint i = thread; i < call.k; i += 512u) result[call.out_at + part * call.k + i] = best[i];
}
