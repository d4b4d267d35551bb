#include "spectr/backend/cpu/kernels/before_target.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")
#include "spectr/backend/cpu/kernels/kernel_set-inl.h"
#include "spectr/backend/cpu/kernels/lanes_avx2-inl.h"

namespace spectr {
namespace {

/// Like AVX-512 VNNI, at half the width.
struct Avx2VnniLanes : Avx2Lanes {
  static constexpr int signed_excess = 128;

  static HWY_INLINE Ints dot(Ints sum, Bytes w, const std::uint8_t* q) {
    return _mm256_dpbusd_avx_epi32(sum, w, broadcast_int(q));
  }
  static HWY_INLINE Bytes signed_quants(Bytes w) { return _mm256_xor_si256(w, _mm256_set1_epi8(-128)); }
  static HWY_INLINE Ints dot_signed(Ints sum, Bytes w, const std::uint8_t* q) { return dot(sum, w, q); }
};

}  // namespace

const KernelSet& avx2_vnni_kernels() {
  return kernel_set_of<Avx2VnniLanes>;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
