#pragma once

#include <cstdint>
#include <span>

namespace spectr::vulkan {

/// The kernels compiled by cmake/VulkanKernels.cmake.
enum class Kernel {
  elementwise,
  elementwise_quantized,
  norm,
  norm_quantized,
  quantize,
  panel_product,
  matrix_product,
  float_product,
  turn,
  attend,
  merge,
  merge_quantized,
  choose_experts,
  group_experts,
  add_chosen,
  combine,
  move,
  copy_heads,
  spread,
  word_logits,
  top,
  sum_exp,
  store_inputs,
  convolve,
  prepare_heads,
  multiply_keys,
  recur,
};
inline constexpr int kernel_count = 27;

struct KernelCode {
  const char* name;
  std::span<const std::uint32_t> words;  ///< SPIR-V; empty for matrix_product if glslc lacks these matrices
  std::uint32_t bindings;                ///< their number; bindings are 0 … bindings − 1
};

const KernelCode& code_of(Kernel kernel);

}  // namespace spectr::vulkan
