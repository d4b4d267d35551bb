#pragma once

#include <cstdint>
#include <span>

namespace spectr::vulkan {

/// The kernels, as cmake/VulkanKernels.cmake compiles them.
enum class Kernel {
  elementwise,
  elementwise_quantized,
  norm,
  norm_quantized,
  quantize,
  product_q8_0,
  product_q5_0,
  product_q4_0,
  product_q6_k,
  product_q5_k,
  product_q4_k,
  float_product,
  turn,
  attend,
  merge,
  merge_quantized,
  move,
  spread,
  word_logits,
  top,
  sum_exp,
};
inline constexpr int kernel_count = 21;

struct KernelCode {
  const char* name;
  std::span<const std::uint32_t> words;  ///< SPIR-V
  std::uint32_t bindings;                ///< 0 … bindings − 1
};

const KernelCode& code_of(Kernel kernel);

}  // namespace spectr::vulkan
