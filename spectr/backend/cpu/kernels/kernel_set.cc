#include "spectr/backend/cpu/kernels/kernel_set.h"

#include <algorithm>
#include <iterator>

#include "spectr/base/check.h"

namespace spectr {
namespace {

struct BuiltKernels {
  KernelLevel level;
  const KernelSet& (*kernels)();
};

/// The kernels of this build, listed by built_kernels() of cmake/Components.cmake.
#define SPECTR_KERNELS(name) {KernelLevel::name, name##_kernels},
constexpr BuiltKernels all[] = {
#include "spectr/backend/cpu/kernels/built_kernels.inc"
};
#undef SPECTR_KERNELS

}  // namespace

bool is_built(KernelLevel level) {
  return std::ranges::find(all, level, &BuiltKernels::level) != std::end(all);
}

const KernelSet& kernels_of(KernelLevel level) {
  const BuiltKernels* const found = std::ranges::find(all, level, &BuiltKernels::level);
  SPECTR_CHECK(found != std::end(all));
  return found->kernels();
}

}  // namespace spectr
