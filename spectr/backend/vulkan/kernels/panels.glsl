// Decodes blocks of quantized weights in panels (weight_panels.h); a thread has one row of a panel. The
// constants are those of a PanelFormat. The buffers codes, scales and factors begin at call.codes_at,
// scales_at and factors_at, in vectors, words, and words.

layout(constant_id = 1) const uint BITS = 8u;
layout(constant_id = 2) const uint OFFSET = 0u;
layout(constant_id = 3) const bool HAS_TABLE = false;
layout(constant_id = 4) const uint TABLE_0 = 0u;
layout(constant_id = 5) const uint TABLE_1 = 0u;
layout(constant_id = 6) const uint TABLE_2 = 0u;
layout(constant_id = 7) const uint TABLE_3 = 0u;
layout(constant_id = 8) const uint SCALES = 0u;

// The values of PanelScales.
const uint halves = 0u, upper_halves = 1u, halves_and_minima = 2u, small = 3u, small_and_minima = 4u,
           small_of_16 = 5u, nibbles_of_16 = 6u;
const bool HAS_MINIMA = SCALES == halves_and_minima || SCALES == small_and_minima || SCALES == nibbles_of_16;
const bool ARE_OF_16 = SCALES >= small_of_16;

/// Looks up four numbers below 16 in the table of bytes.
uint look_up(uint numbers) {
  uint found = 0u;
  [[unroll]] for (int i = 0; i < 32; i += 8) {
    const uint n = numbers >> i & 15u;
    const uint word = n < 8u ? n < 4u ? TABLE_0 : TABLE_1 : n < 12u ? TABLE_2 : TABLE_3;
    found |= (word >> n % 4u * 8u & 255u) << i;
  }
  return found;
}

/// Decodes codes of fewer than 8 bits to signed bytes.
uvec4 meaning_of(uvec4 c) {
  if (HAS_TABLE) return uvec4(look_up(c.x), look_up(c.y), look_up(c.z), look_up(c.w));
  const uint signs = 0x80808080u;  // prevents borrows between bytes
  return OFFSET == 0u ? c : (c | signs) - OFFSET * 0x01010101u ^ signs;
}

/// Decodes the row's codes: c[k] has columns 16 k … 16 k + 15, as signed bytes.
void load_codes(uint block, uint row, out uvec4 c[4]) {
  uint at = call.codes_at + block * (8u * BITS), have = 0u;  // bits decoded so far
  if (BITS == 8u) {
    [[unroll]] for (uint k = 0u; k < 4u; ++k) c[k] = codes[at + k * 16u + row];
    return;
  }
  [[unroll]] for (uint k = 0u; k < 4u; ++k) c[k] = uvec4(0u);
  if ((BITS & 4u) != 0u) {
    [[unroll]] for (uint h = 0u; h < 2u; ++h) {
      const uvec4 nibbles = codes[at + h * 16u + row];
      c[2u * h] = nibbles & 0x0f0f0f0fu;
      c[2u * h + 1u] = nibbles >> 4 & 0x0f0f0f0fu;
    }
    at += 32u;
    have = 4u;
  }
  if ((BITS & 2u) != 0u) {
    const uvec4 pairs = codes[at + row];
    [[unroll]] for (uint k = 0u; k < 4u; ++k) c[k] |= (pairs >> 2u * k & 0x03030303u) << have;
    at += 16u;
    have += 2u;
  }
  if ((BITS & 1u) != 0u) {
    const uvec4 two_rows = codes[at + row / 2u];
    const uvec2 last = row % 2u == 0u ? two_rows.xy : two_rows.zw;
    [[unroll]] for (uint k = 0u; k < 4u; ++k)
      c[k] |= (uvec4(last.x >> k, last.x >> k + 4u, last.y >> k, last.y >> k + 4u) & 0x01010101u) << have;
  }
  [[unroll]] for (uint k = 0u; k < 4u; ++k) c[k] = meaning_of(c[k]);
}

/// Loads the scale and the minimum of each 16 columns. If 32 columns share them, pairs are equal.
void load_scales(uint block, uint row, out vec4 s, out vec4 m) {
  const uint words = SCALES == halves_and_minima ? 2u : 1u;
  const uint at = call.scales_at + block * words * 16u + row, word = scales[at];
  m = vec4(0.0);
  if (SCALES == halves || SCALES == halves_and_minima) {
    s = unpackHalf2x16(word).xxyy;
    if (SCALES == halves_and_minima) m = unpackHalf2x16(scales[at + 16u]).xxyy;
    return;
  }
  if (SCALES == upper_halves) {
    s = uintBitsToFloat(uvec2(word << 16, word & 0xffff0000u)).xxyy;
    return;
  }
  const uint factor = factors[call.factors_at + block / 4u * 16u + row];
  const float d = uintBitsToFloat(factor);
  const vec2 both = unpackHalf2x16(factor);
  if (SCALES == small) s = vec2(mul(d, float(int(word << 24) >> 24)), mul(d, float(int(word << 16) >> 24))).xxyy;
  if (SCALES == small_and_minima) {
    s = vec2(mul(both.x, float(word & 255u)), mul(both.x, float(word >> 8 & 255u))).xxyy;
    m = vec2(mul(both.y, float(word >> 16 & 255u)), mul(both.y, float(word >> 24))).xxyy;
  }
  [[unroll]] for (int k = 0; k < 4; ++k) {
    if (SCALES == small_of_16) s[k] = mul(d, float(int(word << 24 - 8 * k) >> 24));
    if (SCALES == nibbles_of_16) {
      s[k] = mul(both.x, float(word >> 8 * k & 15u));
      m[k] = mul(both.y, float(word >> 8 * k + 4 & 15u));
    }
  }
}

// Returns Σ of four products of signed bytes (OpSDot).
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4450)
int dot_of_bytes(int a, int b, spirv_literal int packed_4x8);

float less(float t, float minimum, int sum) {
  return HAS_MINIMA ? sub(t, mul(minimum, float(sum))) : t;
}

/// Returns t for half h of a block, see panel_product.comp. q[t][k] is word 4 k + t of x.
float half_of_block(uint h, uvec4 c[4], vec4 s, vec4 m, uvec4 q[4]) {
  ivec2 products = ivec2(0), sums = ivec2(0);  // of 16 columns each
  [[unroll]] for (uint k = 0u; k < 2u; ++k) {
    [[unroll]] for (uint t = 0u; t < 4u; ++t) {
      const int x = int(q[t][2u * h + k]);
      products[k] += dot_of_bytes(int(c[2u * h + k][t]), x, 0);
      if (HAS_MINIMA) sums[k] += dot_of_bytes(0x01010101, x, 0);
    }
  }
  if (!ARE_OF_16) return less(mul(s[2u * h], float(products.x + products.y)), m[2u * h], sums.x + sums.y);
  const float first = less(mul(s[2u * h], float(products.x)), m[2u * h], sums.x);
  return less(add(first, mul(s[2u * h + 1u], float(products.y))), m[2u * h + 1u], sums.y);
}
