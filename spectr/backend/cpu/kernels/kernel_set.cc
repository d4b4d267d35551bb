#include "spectr/backend/cpu/kernels/kernel_set.h"

#include "spectr/base/check.h"

namespace spectr {

const KernelSet& kernels_of(KernelLevel level) {
  switch (level) {
#if defined(__x86_64__)
    case KernelLevel::avx2:
      return avx2_kernels();
    case KernelLevel::avx2_vnni:
      return avx2_vnni_kernels();
    case KernelLevel::avx512:
      return avx512_kernels();
    case KernelLevel::avx512_vnni:
      return avx512_vnni_kernels();
    case KernelLevel::amx:
      return amx_kernels();
#elif defined(__aarch64__)
    case KernelLevel::neon:
      return neon_kernels();
    case KernelLevel::neon_dot:
      return neon_dot_kernels();
#endif
    default:
      SPECTR_CHECK(level == KernelLevel::portable);
      return portable_kernels();
  }
}

}  // namespace spectr
