#include "spectr/backend/cpu/kernels/before_target.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")
#include "spectr/backend/cpu/kernels/kernel_set-inl.h"
#include "spectr/backend/cpu/kernels/lanes_avx512-inl.h"

namespace spectr {
namespace {

struct Avx512BwLanes : Avx512Lanes {
  static constexpr int largest_sweep = 8;
  static constexpr int signed_excess = 0;

  /// Pairs of products to 16 bits, at most 2 · 63 · 127 < 2¹⁵ as quants have 6 bits; pairs of those to 32.
  static HWY_INLINE Ints dot(Ints sum, Bytes w, const std::uint8_t* q) {
    const Ints pairs = _mm512_maddubs_epi16(w, broadcast_int(q));
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
  /// Bytes of full range: even and odd ones as 16 bits each.
  static HWY_INLINE Ints dot_signed(Ints sum, Bytes w, const std::uint8_t* q) {
    const Ints activation = broadcast_int(q);
    return _mm512_add_epi32(_mm512_add_epi32(sum, _mm512_madd_epi16(even(w), even(activation))),
                            _mm512_madd_epi16(odd(w), odd(activation)));
  }

 private:
  static HWY_INLINE Ints even(Bytes b) { return _mm512_srai_epi16(_mm512_slli_epi16(b, 8), 8); }
  static HWY_INLINE Ints odd(Bytes b) { return _mm512_srai_epi16(b, 8); }
};

}  // namespace

const KernelSet& avx512_kernels() {
  return kernel_set_of<Avx512BwLanes>;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
