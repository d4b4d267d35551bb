#include "spectr/backend/cpu/kernels/before_target.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")
#include "spectr/backend/cpu/kernels/kernel_set-inl.h"
#include "spectr/backend/cpu/kernels/lanes_avx512-inl.h"

namespace spectr {
namespace {

struct Avx512BwLanes : Avx512Lanes {
  static constexpr int signed_excess = 0;

  static HWY_INLINE __m512i pairs_of_products(Bytes w, const std::uint8_t* q) {
    return _mm512_maddubs_epi16(w, broadcast_int(q));
  }
  static HWY_INLINE __m512i add_pairs(__m512i a, __m512i b) { return here(_mm512_add_epi16(a, b)); }
  static HWY_INLINE Ints add_sums(Ints sum, __m512i pairs) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }

  struct SignedQuants {
    Bytes magnitudes;
    __mmask64 negative;
  };
  static HWY_INLINE SignedQuants signed_quants(Bytes w) {
    return {_mm512_abs_epi8(w), _mm512_movepi8_mask(w)};
  }
  /// Multiplies |w| by q with the sign of w. The sum of two such products is at most 2 · 128 · 127 < 2¹⁵.
  static HWY_INLINE Ints dot_signed(Ints sum, SignedQuants w, const std::uint8_t* q) {
    const Bytes plus = broadcast_int(q);
    const Bytes signed_q = _mm512_mask_sub_epi8(plus, w.negative, _mm512_setzero_si512(), plus);
    return here(add_sums(sum, _mm512_maddubs_epi16(w.magnitudes, signed_q)));
  }

 private:
  /// Forces v to be computed here: otherwise compilers compute all products first, and spill them to memory
  /// until they are added.
  static HWY_INLINE __m512i here(__m512i v) {
    asm volatile("" : "+v"(v));
    return v;
  }
};

}  // namespace

const KernelSet& avx512_kernels() {
  return kernel_set_of<Avx512BwLanes>;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
