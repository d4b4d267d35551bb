// The operations of panel_kernel-inl.h for AVX2 with FMA and F16C: 8 rows at a time. Must be included after
// the compiler target is selected.
#pragma once

#include "spectr/backend/cpu/kernels/prefetch-inl.h"

namespace spectr {

struct Avx2Lanes {
  static constexpr std::size_t lanes = 8;
  static constexpr int largest_sweep = 8;
  static constexpr int largest_float_sweep = 3;
  static constexpr std::size_t registers = 16;
  // CPUs without AVX-512 have L2 caches of at least 256 KiB and L1 caches of 32 KiB.
  static constexpr Prefetching prefetching{.interleaved_bytes = std::size_t{96} << 10,
                                           .to = CacheLevel::second};

  using Bytes = __m256i;
  using Ints = __m256i;
  using Floats = __m256;

  static HWY_INLINE Bytes load(const std::uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  /// Returns (byte >> shift) & mask. Shifts are 16 bits wide; the mask clears bits of the neighbouring byte.
  template <int shift, int mask>
  static HWY_INLINE Bytes field(Bytes b) {
    if constexpr (shift < 0) b = _mm256_slli_epi16(b, -shift);
    if constexpr (shift > 0) b = _mm256_srli_epi16(b, shift);
    return _mm256_and_si256(b, _mm256_set1_epi8(mask));
  }
  /// Returns table[b] of a table of 16.
  static HWY_INLINE Bytes look_up(Bytes b, const std::int8_t* table) {
    const __m128i once = _mm_load_si128(reinterpret_cast<const __m128i*>(table));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(once), b);
  }
  static HWY_INLINE Bytes merge(Bytes a, Bytes b) { return _mm256_or_si256(a, b); }

  static HWY_INLINE Ints broadcast_int(const std::uint8_t* p) { return _mm256_set1_epi32(word(p)); }
  static HWY_INLINE Ints bytes(const std::uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static HWY_INLINE Ints signed_bytes(const std::uint8_t* p) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  template <int shift, int mask>
  static HWY_INLINE Ints bits(Ints b) {
    if constexpr (shift < 0) b = _mm256_slli_epi32(b, -shift);
    if constexpr (shift > 0) b = _mm256_srli_epi32(b, shift);
    return _mm256_and_si256(b, _mm256_set1_epi32(mask));
  }
  static HWY_INLINE Ints either(Ints a, Ints b) { return _mm256_or_si256(a, b); }
  static HWY_INLINE Ints add(Ints a, int b) { return _mm256_add_epi32(a, _mm256_set1_epi32(b)); }

  static HWY_INLINE Floats zero_floats() { return _mm256_setzero_ps(); }
  static HWY_INLINE Floats broadcast_float(const std::uint8_t* p) {
    return _mm256_castsi256_ps(broadcast_int(p));
  }
  static HWY_INLINE Floats float_of(float value) { return _mm256_set1_ps(value); }
  static HWY_INLINE Floats as_floats(Ints a) { return _mm256_castsi256_ps(a); }
  static HWY_INLINE Ints as_ints(Floats a) { return _mm256_castps_si256(a); }
  static HWY_INLINE Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static HWY_INLINE Floats to_float(Ints a) { return _mm256_cvtepi32_ps(a); }
  static HWY_INLINE Floats negate(Floats a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
  static HWY_INLINE Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static HWY_INLINE Floats add_product(Floats sum, Floats a, Floats b) { return _mm256_fmadd_ps(a, b, sum); }
  static HWY_INLINE Floats subtract_product(Floats sum, Floats a, Floats b) {
    return _mm256_fnmadd_ps(a, b, sum);
  }
  static HWY_INLINE Floats f32s(const void* p) { return _mm256_loadu_ps(static_cast<const float*>(p)); }
  static HWY_INLINE Floats f16s(const void* p) { return _mm256_cvtph_ps(words(p)); }
  static HWY_INLINE Floats bf16s(const void* p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words(p)), 16));
  }
  /// Forces v into a register; otherwise each product that uses it would load it again.
  static HWY_INLINE Floats in_register(Floats v) {
    asm("" : "+x"(v));
    return v;
  }
  static HWY_INLINE float sum_of_16(const Floats (&v)[2]) {
    const __m256 eight = _mm256_add_ps(v[0], v[1]);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  static HWY_INLINE void store(float* p, Floats a) { _mm256_storeu_ps(p, a); }

 protected:
  static HWY_INLINE int word(const std::uint8_t* p) {
    int value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }
  static HWY_INLINE __m128i words(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
};

}  // namespace spectr
