#pragma once

#include <cstdint>
#include <span>

namespace spectr::vulkan {

/// The kernels compiled by cmake/VulkanKernels.cmake, and their numbers of bindings: X(name, bindings).
#define SPECTR_VULKAN_KERNELS(X) \
  X(elementwise, 3)              \
  X(elementwise_quantized, 4)    \
  X(norm, 6)                     \
  X(norm_quantized, 7)           \
  X(quantize, 2)                 \
  X(panel_product, 7)            \
  X(matrix_product, 6)           \
  X(float_product, 4)            \
  X(rope, 8)                     \
  X(attend, 5)                   \
  X(merge, 4)                    \
  X(merge_quantized, 5)          \
  X(choose_experts, 5)           \
  X(group_experts, 2)            \
  X(add_chosen, 3)               \
  X(combine, 4)                  \
  X(move, 3)                     \
  X(copy_heads, 2)               \
  X(spread, 3)                   \
  X(extra_token_logits, 4)       \
  X(top, 2)                      \
  X(sum_exp, 2)                  \
  X(store_inputs, 5)             \
  X(convolve, 6)                 \
  X(prepare_heads, 6)            \
  X(multiply_keys, 4)            \
  X(recur, 8)

enum class Kernel {
#define SPECTR_NAME(name, bindings) name,
  SPECTR_VULKAN_KERNELS(SPECTR_NAME)
#undef SPECTR_NAME
};
// NOLINTNEXTLINE(bugprone-macro-parentheses): a term of the sum below
#define SPECTR_COUNT(name, bindings) +1
inline constexpr int kernel_count = SPECTR_VULKAN_KERNELS(SPECTR_COUNT);
#undef SPECTR_COUNT

struct KernelCode {
  const char* name;
  std::span<const std::uint32_t> words;  ///< SPIR-V; empty for matrix_product if glslc lacks these matrices
  std::uint32_t bindings;                ///< their number; bindings are 0 … bindings − 1
};

const KernelCode& code_of(Kernel kernel);

}  // namespace spectr::vulkan
