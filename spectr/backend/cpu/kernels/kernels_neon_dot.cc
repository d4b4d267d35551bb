#include "spectr/backend/cpu/kernels/before_target.h"

#if defined(__aarch64__)
#if defined(__clang__)
HWY_PUSH_ATTRIBUTES("dotprod")
#else
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")  // the minimum that <arm_neon.h> accepts
#endif
#include "spectr/backend/cpu/kernels/kernel_set-inl.h"
#include "spectr/backend/cpu/kernels/lanes_neon-inl.h"

namespace spectr {
namespace {

struct NeonDotLanes : NeonLanes {
  static HWY_INLINE Ints dot(Ints sum, Bytes w, const std::uint8_t* q) {
    return dot_signed(sum, w, q);  // quants below 64 are equal as signed bytes
  }
  static HWY_INLINE Bytes signed_quants(Bytes w) { return w; }
  static HWY_INLINE Ints dot_signed(Ints sum, Bytes w, const std::uint8_t* q) {
    return vdotq_s32(sum, vreinterpretq_s8_u8(w), four_activations(q));
  }
};

}  // namespace

const KernelSet& neon_dot_kernels() {
  return kernel_set_of<NeonDotLanes>;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
