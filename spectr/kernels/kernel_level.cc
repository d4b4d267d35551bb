#include "spectr/kernels/kernel_level.h"

#include "spectr/base/check.h"
#include "spectr/kernels/kernel_sets.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace spectr {
namespace {

std::vector<KernelLevel> find_levels() {
  std::vector<KernelLevel> levels = {KernelLevel::portable};
#if defined(__x86_64__)
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (avx2) levels.push_back(KernelLevel::avx2);
  if (avx2 && __builtin_cpu_supports("avxvnni")) levels.push_back(KernelLevel::avx2_vnni);
  if (avx512) levels.push_back(KernelLevel::avx512);
  if (avx512 && __builtin_cpu_supports("avx512vnni")) levels.push_back(KernelLevel::avx512_vnni);
#elif defined(__aarch64__)
  levels.push_back(KernelLevel::neon);
#if defined(__linux__)
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) levels.push_back(KernelLevel::neon_dot);
#elif defined(__APPLE__)
  levels.push_back(KernelLevel::neon_dot);
#endif
#endif
  return levels;
}

}  // namespace

std::string_view name_of(KernelLevel level) {
  constexpr std::string_view names[] = {"portable",  "NEON",    "NEON dotprod", "AVX2",
                                        "AVX2 VNNI", "AVX-512", "AVX-512 VNNI"};
  return names[static_cast<std::size_t>(level)];
}

const std::vector<KernelLevel>& available_levels() {
  static const std::vector<KernelLevel> levels = find_levels();
  return levels;
}

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
