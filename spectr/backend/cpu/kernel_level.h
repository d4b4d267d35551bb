#pragma once

#include <string_view>
#include <vector>

namespace spectr {

/// Instruction sets with matrix product kernels. All levels give bitwise equal results.
enum class KernelLevel { portable, neon, neon_dot, avx2, avx2_vnni, avx512, avx512_vnni, amx };

std::string_view name_of(KernelLevel level);

/// Returns the levels that this build has and this machine supports, the best one last.
const std::vector<KernelLevel>& available_levels();

}  // namespace spectr
