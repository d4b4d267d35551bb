// Quantization of rows of x for products (QuantizedLayout): 32 columns share a = max |x| / 127, and q[j] is
// the integer nearest to x[j] / a.
//
// The includer has GROUP threads per work group. Its parameters include the destination: quantized_at,
// _scales_at, _sums_at (in words), _slab (slab stride in words) and _tiles.

layout(binding = QUANTIZED) writeonly buffer Quantized {
  uint quantized[];
};

uint quantized_behind = 0u;  // additional offset of all parts, in words

shared uint quantize_sizes[GROUP];
shared int quantize_sums[GROUP];

/// Returns `columns` rounded up to whole blocks.
uint whole_blocks(uint columns) {
  return (columns + 63u) / 64u * 64u;
}

/// Quantizes four columns of row r, from `column` on. Must be called by all threads of a group: eight aligned
/// threads have columns that share a scale. Threads past the row's blocks do not store.
void quantize_four(vec4 v, uint r, uint column, bool stores) {
  const uint thread = gl_LocalInvocationID.x, team = thread / 8u * 8u;
  // Compared as integers, the bits of |x| are ordered like the numbers; NaN is largest.
  const uvec4 sizes = floatBitsToUint(v) & 0x7fffffffu;
  barrier();  // the previous contents may still be read
  quantize_sizes[thread] = max(max(sizes.x, sizes.y), max(sizes.z, sizes.w));
  barrier();
  uint top = 0u;
  [[unroll]] for (uint i = 0u; i < 8u; ++i) top = max(top, quantize_sizes[team + i]);
  const float most = uintBitsToFloat(top);
  const bool is_number = top < 0x7f800000u, nothing = most < 1e-30;  // below that, 127 / most could overflow
  const float reciprocal = nothing || !is_number ? 0.0 : divide(127.0, most);
  uint word = 0u;
  int sum = 0;
  if (is_number) {
    [[unroll]] for (int j = 0; j < 4; ++j) {
      // Adding 1.5 · 2²³ rounds to an integer, which is then in the low bits of the float.
      const uint bits = floatBitsToUint(add(mul(v[j], reciprocal), 12582912.0)) & 255u;
      word |= bits << 8 * j;
      sum += int(bits << 24) >> 24;
    }
  }
  quantize_sums[thread] = sum;
  barrier();
  if (!stores) return;
  const uint l = column / 4u % 16u, g = r % 8u, slab = quantized_behind + r / 64u * call.quantized_slab;
  const uint tile = column / 64u * call.quantized_tiles + r % 64u / 8u;
  quantized[call.quantized_at + slab + tile * 128u + (4u * g + l % 4u) * 4u + l / 4u] = word;
  if (l % 8u != 0u) return;
  [[unroll]] for (uint i = 1u; i < 8u; ++i) sum += quantize_sums[team + i];
  const uint at = slab + tile * 16u + g / 2u * 4u + column / 32u % 2u * 2u + g % 2u;
  const float a = !is_number ? most : nothing ? 0.0 : divide(most, 127.0);
  quantized[call.quantized_scales_at + at] = floatBitsToUint(a);
  quantized[call.quantized_sums_at + at] = floatBitsToUint(float(sum));
}
