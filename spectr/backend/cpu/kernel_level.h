#pragma once

#include <string_view>
#include <vector>

namespace spectr {

/// The instruction sets that matrix products are written for. All give the same bits.
enum class KernelLevel { portable, neon, neon_dot, avx2, avx2_vnni, avx512, avx512_vnni, amx };

std::string_view name_of(KernelLevel level);

/// The levels that this build has and this machine can run, the best one last.
const std::vector<KernelLevel>& available_levels();

}  // namespace spectr
