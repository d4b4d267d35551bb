#include "spectr/backend/vulkan/kernel_code.h"

#include <array>

namespace spectr::vulkan {
namespace {

#if !defined(SPECTR_HAS_MATRICES)
constexpr std::span<const std::uint32_t> matrix_product;
#endif
// For each compiled kernel, an array of its SPIR-V words with the kernel's name.
#include "spectr/backend/vulkan/words/all.inc"

constexpr std::array<KernelCode, kernel_count> all{{
#define SPECTR_CODE(name, bindings) {#name, name, bindings},
    SPECTR_VULKAN_KERNELS(SPECTR_CODE)
#undef SPECTR_CODE
}};

}  // namespace

const KernelCode& code_of(Kernel kernel) {
  return all[static_cast<std::size_t>(kernel)];
}

}  // namespace spectr::vulkan
