// The operations of panel_kernel-inl.h for AVX-512 (F, BW, VL, DQ): 16 rows at a time. Must be included after
// the compiler target is selected.
#pragma once

#include "spectr/backend/cpu/kernels/prefetch-inl.h"

namespace spectr {

struct Avx512Lanes {
  static constexpr std::size_t lanes = 16;
  static constexpr int largest_sweep = 16;
  static constexpr int largest_float_sweep = 4;
  static constexpr std::size_t registers = 32;
  static constexpr Prefetching prefetching{.interleaved_bytes = std::size_t{24} << 10,
                                           .fallback = PanelOrder::in_line};

  using Bytes = __m512i;
  using Ints = __m512i;
  using Floats = __m512;

  static HWY_INLINE Bytes load(const std::uint8_t* p) { return _mm512_loadu_si512(p); }
  /// Returns (byte >> shift) & mask. Shifts are 16 bits wide; the mask clears bits of the neighbouring byte.
  template <int shift, int mask>
  static HWY_INLINE Bytes field(Bytes b) {
    if constexpr (shift < 0) b = _mm512_slli_epi16(b, -shift);
    if constexpr (shift > 0) b = _mm512_srli_epi16(b, shift);
    return _mm512_and_si512(b, _mm512_set1_epi8(mask));
  }
  /// Returns table[b] of a table of 16.
  static HWY_INLINE Bytes look_up(Bytes b, const std::int8_t* table) {
    const __m128i once = _mm_load_si128(reinterpret_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(once), b);
  }
  static HWY_INLINE Bytes merge(Bytes a, Bytes b) { return _mm512_or_si512(a, b); }

  static HWY_INLINE Ints broadcast_int(const std::uint8_t* p) { return _mm512_set1_epi32(word(p)); }
  static HWY_INLINE Ints bytes(const std::uint8_t* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static HWY_INLINE Ints signed_bytes(const std::uint8_t* p) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  template <int shift, int mask>
  static HWY_INLINE Ints bits(Ints b) {
    if constexpr (shift < 0) b = _mm512_slli_epi32(b, -shift);
    if constexpr (shift > 0) b = _mm512_srli_epi32(b, shift);
    return _mm512_and_si512(b, _mm512_set1_epi32(mask));
  }
  static HWY_INLINE Ints either(Ints a, Ints b) { return _mm512_or_si512(a, b); }
  static HWY_INLINE Ints add(Ints a, int b) { return _mm512_add_epi32(a, _mm512_set1_epi32(b)); }

  static HWY_INLINE Floats zero_floats() { return _mm512_setzero_ps(); }
  static HWY_INLINE Floats broadcast_float(const std::uint8_t* p) {
    float value;  // loaded as a float, so that the broadcast is not a separate operation
    std::memcpy(&value, p, sizeof value);
    return _mm512_set1_ps(value);
  }
  static HWY_INLINE Floats float_of(float value) { return _mm512_set1_ps(value); }
  static HWY_INLINE Floats as_floats(Ints a) { return _mm512_castsi512_ps(a); }
  static HWY_INLINE Ints as_ints(Floats a) { return _mm512_castps_si512(a); }
  static HWY_INLINE Floats to_float(Ints a) { return _mm512_cvtepi32_ps(a); }
  static HWY_INLINE Floats subtract(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static HWY_INLINE Floats negate(Floats a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
  static HWY_INLINE Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static HWY_INLINE Floats add_product(Floats sum, Floats a, Floats b) { return _mm512_fmadd_ps(a, b, sum); }
  static HWY_INLINE Floats subtract_product(Floats sum, Floats a, Floats b) {
    return _mm512_fnmadd_ps(a, b, sum);
  }
  static HWY_INLINE Floats f32s(const void* p) { return _mm512_loadu_ps(p); }
  static HWY_INLINE Floats f16s(const void* p) { return _mm512_cvtph_ps(words(p)); }
  static HWY_INLINE Floats bf16s(const void* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(words(p)), 16));
  }
  /// Forces v into a register; otherwise each product that uses it would load it again.
  static HWY_INLINE Floats in_register(Floats v) {
    asm("" : "+v"(v));
    return v;
  }
  static HWY_INLINE float sum_of_16(const Floats (&v)[1]) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v[0]), _mm512_extractf32x8_ps(v[0], 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  static HWY_INLINE void store(float* p, Floats a) { _mm512_storeu_ps(p, a); }

 protected:
  static HWY_INLINE int word(const std::uint8_t* p) {
    int value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }
  static HWY_INLINE __m256i words(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
};

}  // namespace spectr
