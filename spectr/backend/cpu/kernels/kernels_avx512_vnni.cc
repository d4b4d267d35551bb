#include "spectr/backend/cpu/kernels/before_target.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")
#include "spectr/backend/cpu/kernels/kernel_set-inl.h"
#include "spectr/backend/cpu/kernels/lanes_avx512-inl.h"

namespace spectr {
namespace {

/// Four products of unsigned quants with signed bytes per lane are one instruction.
struct Avx512VnniLanes : Avx512Lanes {
  struct [[gnu::packed, gnu::may_alias]] FourBytes {
    int value;
  };
  static constexpr int signed_excess = 128;

  /// Uses an instruction with an embedded broadcast; compilers emit a separate one for _mm512_dpbusd_epi32.
  static HWY_INLINE Ints dot(Ints sum, Bytes w, const std::uint8_t* q) {
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(w), "m"(*reinterpret_cast<const FourBytes*>(q)));
    return sum;
  }
  /// Returns w + 128, the excess, as unsigned bytes.
  static HWY_INLINE Bytes signed_quants(Bytes w) { return _mm512_xor_si512(w, _mm512_set1_epi8(-128)); }
  static HWY_INLINE Ints dot_signed(Ints sum, Bytes w, const std::uint8_t* q) { return dot(sum, w, q); }
};

}  // namespace

const KernelSet& avx512_vnni_kernels() {
  return kernel_set_of<Avx512VnniLanes>;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
