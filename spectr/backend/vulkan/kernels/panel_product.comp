#version 460
// y = W x for quantized weights in panels (weight_panels.h) and quantized rows of x. Of a half h of a block:
//
//     t = s · float(Σ c q)  [ − m · float(Σ q) ],    segment's sum += a · t
//
// each product and sum rounded by itself; the sums of integers are exact. BITS: of a code, and OFFSET: what is
// taken off it. SCALES: halves for 32 columns, HALVES; bytes for 32, with minima, MINIMA; signed bytes for 16,
// BYTES, where t is the sum of both.
#extension GL_GOOGLE_include_directive : require
#include "arithmetic.glsl"

// Σ of four products of signed bytes (OpSDot).
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4450)
int dot_of_bytes(int a, int b, spirv_literal int packed_4x8);

layout(binding = 0) readonly buffer Codes {
  uvec4 codes[];
};
layout(binding = 1) readonly buffer Scales {
  uint scales[];
};
layout(binding = 2) readonly buffer Factors {
  uint factors[];
};
layout(binding = 3) readonly buffer XCodes {
  uvec4 x_codes[];
};
layout(binding = 4) readonly buffer XNumbers {
  float x_numbers[];
};
layout(binding = 5) writeonly buffer Y {
  float y[];
};
layout(push_constant) uniform Parameters {
  uint codes_at, scales_at, factors_at;  // vectors, words, words
  uint x_at, x_scales_at, x_sums_at, tiles;
  uint rows, blocks, n;
  uint y_at, y_stride;
  uint panels, x_apart, y_apart;  // of a head, and vectors and words from head to head
} call;

#include "product.glsl"

#define HALVES 0
#define MINIMA 1
#define BYTES 2

/// Bytes c become c − OFFSET, with their signs.
uvec4 without_offset(uvec4 c) {
#if OFFSET > 0
  const uint sign = uint(OFFSET) * 0x01010101u;
  c ^= sign;
  c |= (c & sign) * uint(256 / OFFSET - 2);
#endif
  return c;
}

/// c[k]: the codes of columns 16 k … 16 k + 15 of the thread's row, as signed bytes.
void load_codes(uint block, uint row, out uvec4 c[4]) {
  const uint at = call.codes_at + block * uint(8 * BITS);
#if BITS == 8
  [[unroll]] for (uint k = 0u; k < 4u; ++k) c[k] = codes[at + k * 16u + row];
#else
  [[unroll]] for (uint h = 0u; h < 2u; ++h) {
    const uvec4 nibbles = codes[at + h * 16u + row];
    c[2u * h] = nibbles & 0x0f0f0f0fu;
    c[2u * h + 1u] = nibbles >> 4 & 0x0f0f0f0fu;
  }
#endif
#if BITS == 5
  const uvec4 two_rows = codes[at + 32u + row / 2u];
  const uvec2 high = row % 2u == 0u ? two_rows.xy : two_rows.zw;
  [[unroll]] for (uint k = 0u; k < 4u; ++k)
    c[k] |= (uvec4(high.x >> k, high.x >> k + 4u, high.y >> k, high.y >> k + 4u) & 0x01010101u) << 4;
#elif BITS == 6
  const uvec4 high = codes[at + 32u + row];
  [[unroll]] for (uint k = 0u; k < 4u; ++k) c[k] |= (high >> 2u * k & 0x03030303u) << 4;
#endif
  [[unroll]] for (uint k = 0u; k < 4u; ++k) c[k] = without_offset(c[k]);
}

/// Of 16 columns each the scale, and of both halves the minimum.
void load_scales(uint block, uint row, out vec4 s, out vec2 m) {
  const uint word = scales[call.scales_at + block * 16u + row];
  m = vec2(0.0);
#if SCALES == HALVES
  s = unpackHalf2x16(word).xxyy;
#else
  const vec2 d = unpackHalf2x16(factors[call.factors_at + block / 4u * 16u + row]);
#if SCALES == MINIMA
  s = vec2(mul(d.x, float(word & 255u)), mul(d.x, float(word >> 8 & 255u))).xxyy;
  m = vec2(mul(d.y, float(word >> 16 & 255u)), mul(d.y, float(word >> 24)));
#else
  [[unroll]] for (int k = 0; k < 4; ++k) s[k] = mul(d.x, float(int(word << 24 - 8 * k) >> 24));
#endif
#endif
}

void main() {
  const uint row = gl_LocalInvocationID.x % 16u, segment = gl_LocalInvocationID.x / 16u;
  const uint first = gl_WorkGroupID.x * N, panel = gl_WorkGroupID.y;
  const uint x_behind = head_of_group() * call.x_apart;
  float mine[N];
  [[unroll]] for (uint i = 0u; i < N; ++i) mine[i] = 0.0;
  for (uint b = segment; b < call.blocks; b += segments) {
    uvec4 c[4];
    vec4 s;
    vec2 m;
    load_codes(panel * call.blocks + b, row, c);
    load_scales(panel * call.blocks + b, row, s, m);
    [[unroll]] for (uint i = 0u; i < N; ++i) {
      const uint r = min(first + i, call.n - 1u), tile = b * call.tiles + r / 8u, g = r % 8u;
      uvec4 q[4];  // q[t][k]: word 4 k + t
      [[unroll]] for (uint t = 0u; t < 4u; ++t) q[t] = x_codes[call.x_at + x_behind + tile * 32u + 4u * g + t];
      [[unroll]] for (uint h = 0u; h < 2u; ++h) {
        const uint at = 4u * x_behind + tile * 16u + g / 2u * 4u + h * 2u + g % 2u;
        ivec2 products = ivec2(0);  // of 16 columns each
        [[unroll]] for (uint k = 0u; k < 2u; ++k) {
          [[unroll]] for (uint t = 0u; t < 4u; ++t)
            products[k] += dot_of_bytes(int(c[2u * h + k][t]), int(q[t][2u * h + k]), 0);
        }
#if SCALES == BYTES
        const float part =
            add(mul(s[2u * h], float(products.x)), mul(s[2u * h + 1u], float(products.y)));
#else
        float part = mul(s[2u * h], float(products.x + products.y));
#endif
#if SCALES == MINIMA
        part = sub(part, mul(m[h], x_numbers[call.x_sums_at + at]));
#endif
        mine[i] = add(mine[i], mul(x_numbers[call.x_scales_at + at], part));
      }
    }
  }
  [[unroll]] for (uint i = 0u; i < N; ++i) sums[i][segment][row] = mine[i];
  finish_product(row, segment, first);
}
