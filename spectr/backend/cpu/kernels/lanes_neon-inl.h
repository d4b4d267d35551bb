// The operations of panel_kernel-inl.h for NEON: 4 rows at a time. Must be included after the compiler target
// is selected.
#pragma once

#include "spectr/backend/cpu/kernels/prefetch-inl.h"

namespace spectr {

struct NeonLanes {
  static constexpr std::size_t lanes = 4;
  static constexpr int largest_sweep = 8;
  static constexpr int largest_float_sweep = 3;
  static constexpr std::size_t registers = 32;
  static constexpr Prefetching prefetching{};
  static constexpr int signed_excess = 0;

  using Bytes = uint8x16_t;
  using Ints = int32x4_t;
  using Floats = float32x4_t;

  static HWY_INLINE Bytes load(const std::uint8_t* p) { return vld1q_u8(p); }
  /// Returns (byte >> shift) & mask.
  template <int shift, int mask>
  static HWY_INLINE Bytes field(Bytes b) {
    if constexpr (shift < 0) b = vshlq_n_u8(b, -shift);
    if constexpr (shift > 0) b = vshrq_n_u8(b, shift);
    return vandq_u8(b, vdupq_n_u8(mask));
  }
  /// Returns table[b] of a table of 16.
  static HWY_INLINE Bytes look_up(Bytes b, const std::int8_t* table) {
    return vreinterpretq_u8_s8(vqtbl1q_s8(vld1q_s8(table), b));
  }
  static HWY_INLINE Bytes merge(Bytes a, Bytes b) { return vorrq_u8(a, b); }

  static HWY_INLINE Ints broadcast_int(const std::uint8_t* p) { return vdupq_n_s32(word(p)); }
  static HWY_INLINE Ints bytes(const std::uint8_t* p) {
    const uint8x8_t narrow = vreinterpret_u8_s32(vdup_n_s32(word(p)));
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(narrow))));
  }
  static HWY_INLINE Ints signed_bytes(const std::uint8_t* p) {
    const int8x8_t narrow = vreinterpret_s8_s32(vdup_n_s32(word(p)));
    return vmovl_s16(vget_low_s16(vmovl_s8(narrow)));
  }
  template <int shift, int mask>
  static HWY_INLINE Ints bits(Ints b) {
    if constexpr (shift < 0) b = vshlq_n_s32(b, -shift);
    if constexpr (shift > 0) b = vshrq_n_s32(b, shift);
    return vandq_s32(b, vdupq_n_s32(mask));
  }
  static HWY_INLINE Ints either(Ints a, Ints b) { return vorrq_s32(a, b); }
  static HWY_INLINE Ints add(Ints a, int b) { return vaddq_s32(a, vdupq_n_s32(b)); }

  static HWY_INLINE Floats zero_floats() { return vdupq_n_f32(0); }
  static HWY_INLINE Floats broadcast_float(const std::uint8_t* p) {
    return vreinterpretq_f32_s32(broadcast_int(p));
  }
  static HWY_INLINE Floats float_of(float value) { return vdupq_n_f32(value); }
  static HWY_INLINE Floats as_floats(Ints a) { return vreinterpretq_f32_s32(a); }
  static HWY_INLINE Ints as_ints(Floats a) { return vreinterpretq_s32_f32(a); }
  static HWY_INLINE Floats subtract(Floats a, Floats b) { return vsubq_f32(a, b); }
  static HWY_INLINE Floats to_float(Ints a) { return vcvtq_f32_s32(a); }
  static HWY_INLINE Floats negate(Floats a) { return vnegq_f32(a); }
  static HWY_INLINE Floats multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
  static HWY_INLINE Floats add_product(Floats sum, Floats a, Floats b) { return vfmaq_f32(sum, a, b); }
  static HWY_INLINE Floats subtract_product(Floats sum, Floats a, Floats b) { return vfmsq_f32(sum, a, b); }
  static HWY_INLINE Floats f32s(const void* p) {
    return vreinterpretq_f32_u8(vld1q_u8(static_cast<const std::uint8_t*>(p)));
  }
  static HWY_INLINE Floats f16s(const void* p) { return vcvt_f32_f16(vreinterpret_f16_u8(four_words(p))); }
  static HWY_INLINE Floats bf16s(const void* p) {
    return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(four_words(p)), 16));
  }
  static HWY_INLINE Floats in_register(Floats v) { return v; }  // no memory operands on this architecture
  static HWY_INLINE float sum_of_16(const Floats (&v)[4]) {
    const Floats four = vaddq_f32(vaddq_f32(v[0], v[2]), vaddq_f32(v[1], v[3]));
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
  }
  static HWY_INLINE void store(float* p, Floats a) { vst1q_f32(p, a); }

 protected:
  static HWY_INLINE std::int32_t word(const std::uint8_t* p) {
    std::int32_t value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }
  static HWY_INLINE uint8x8_t four_words(const void* p) {
    return vld1_u8(static_cast<const std::uint8_t*>(p));
  }
  static HWY_INLINE int8x16_t four_activations(const std::uint8_t* q) {
    return vreinterpretq_s8_s32(broadcast_int(q));
  }
};

}  // namespace spectr
