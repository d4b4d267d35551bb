#include "spectr/backend/cpu/kernels/before_target.h"

#if defined(__x86_64__)
HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")
#include "spectr/backend/cpu/kernels/kernel_set-inl.h"
#include "spectr/backend/cpu/kernels/lanes_avx2-inl.h"

namespace spectr {
namespace {

struct Avx2MaddLanes : Avx2Lanes {
  static constexpr int signed_excess = 0;

  static HWY_INLINE __m256i pairs_of_products(Bytes w, const std::uint8_t* q) {
    return _mm256_maddubs_epi16(w, broadcast_int(q));
  }
  static HWY_INLINE __m256i add_pairs(__m256i a, __m256i b) { return here(_mm256_add_epi16(a, b)); }
  static HWY_INLINE Ints add_sums(Ints sum, __m256i pairs) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }

  struct SignedQuants {
    Bytes w, magnitudes;
  };
  static HWY_INLINE SignedQuants signed_quants(Bytes w) { return {w, _mm256_abs_epi8(w)}; }
  /// Multiplies |w| by q with the sign of w. The sum of two such products is at most 2 · 128 · 127 < 2¹⁵.
  static HWY_INLINE Ints dot_signed(Ints sum, SignedQuants w, const std::uint8_t* q) {
    const __m256i pairs = _mm256_maddubs_epi16(w.magnitudes, _mm256_sign_epi8(broadcast_int(q), w.w));
    return here(add_sums(sum, pairs));
  }

 private:
  /// Forces v to be computed here: otherwise compilers compute all products first, and spill them to memory
  /// until they are added.
  static HWY_INLINE __m256i here(__m256i v) {
    asm volatile("" : "+x"(v));
    return v;
  }
};

}  // namespace

const KernelSet& avx2_kernels() {
  return kernel_set_of<Avx2MaddLanes>;
}

}  // namespace spectr
HWY_POP_ATTRIBUTES
#endif
