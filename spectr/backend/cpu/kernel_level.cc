#include "spectr/backend/cpu/kernel_level.h"

#include "spectr/backend/cpu/kernels/kernel_set.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace spectr {
namespace {

#if defined(__x86_64__)
/// Returns true if the CPU has tile registers for bytes (AMX) and the system lets this process use them.
/// Linux grants their large state only to processes that request it.
bool may_use_tiles() {
#if defined(__linux__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned tiles = 1U << 24U, products_of_bytes = 1U << 25U;
  if ((d & tiles) == 0 || (d & products_of_bytes) == 0) return false;
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}
#endif

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
  const bool avx512_vnni = avx512 && __builtin_cpu_supports("avx512vnni");
  if (avx512_vnni) levels.push_back(KernelLevel::avx512_vnni);
  if (avx512_vnni && may_use_tiles()) levels.push_back(KernelLevel::amx);
#elif defined(__aarch64__)
  levels.push_back(KernelLevel::neon);
#if defined(__linux__)
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) levels.push_back(KernelLevel::neon_dot);
#elif defined(__APPLE__)
  levels.push_back(KernelLevel::neon_dot);
#endif
#endif
  std::erase_if(levels, [](KernelLevel level) { return !is_built(level); });
  return levels;
}

}  // namespace

std::string_view name_of(KernelLevel level) {
  constexpr std::string_view names[] = {"portable",  "NEON",    "NEON dotprod", "AVX2",
                                        "AVX2 VNNI", "AVX-512", "AVX-512 VNNI", "AMX"};
  return names[static_cast<std::size_t>(level)];
}

const std::vector<KernelLevel>& available_levels() {
  // Never freed: threads of a static object may still compute during process exit.
  static const auto* const levels = new std::vector<KernelLevel>(find_levels());
  return *levels;
}

}  // namespace spectr
