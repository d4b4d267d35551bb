#include "spectr/backend/cpu/kernels/before_target.h"

#if defined(__aarch64__)
#include "spectr/backend/cpu/kernels/kernel_set-inl.h"
#include "spectr/backend/cpu/kernels/lanes_neon-inl.h"

namespace spectr {
namespace {

/// For CPUs without dot product instructions: 16-bit products, added pairwise twice.
struct NeonMullLanes : NeonLanes {
  static HWY_INLINE Ints dot(Ints sum, Bytes w, const std::uint8_t* q) {
    return dot_signed(sum, w, q);  // quants below 64 are equal as signed bytes
  }
  static HWY_INLINE Bytes signed_quants(Bytes w) { return w; }
  static HWY_INLINE Ints dot_signed(Ints sum, Bytes w, const std::uint8_t* q) {
    const int8x16_t quants = vreinterpretq_s8_u8(w);
    const int8x16_t activations = four_activations(q);
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(quants), vget_low_s8(activations)));
    const int32x4_t high = vpaddlq_s16(vmull_s8(vget_high_s8(quants), vget_high_s8(activations)));
    return vaddq_s32(sum, vpaddq_s32(low, high));
  }
};

}  // namespace

const KernelSet& neon_kernels() {
  return kernel_set_of<NeonMullLanes>;
}

}  // namespace spectr
#endif
