#include "spectr/backend/vulkan/kernel_code.h"

#include <array>

namespace spectr::vulkan {
namespace {

// The SPIR-V words of each kernel, comma-separated.
constexpr std::uint32_t elementwise[] = {
#include "spectr/backend/vulkan/words/elementwise.inc"
};
constexpr std::uint32_t elementwise_quantized[] = {
#include "spectr/backend/vulkan/words/elementwise_quantized.inc"
};
constexpr std::uint32_t norm[] = {
#include "spectr/backend/vulkan/words/norm.inc"
};
constexpr std::uint32_t norm_quantized[] = {
#include "spectr/backend/vulkan/words/norm_quantized.inc"
};
constexpr std::uint32_t quantize[] = {
#include "spectr/backend/vulkan/words/quantize.inc"
};
constexpr std::uint32_t panel_product[] = {
#include "spectr/backend/vulkan/words/panel_product.inc"
};
#if defined(SPECTR_HAS_MATRICES)
constexpr std::uint32_t matrix_product[] = {
#include "spectr/backend/vulkan/words/matrix_product.inc"
};
#else
constexpr std::span<const std::uint32_t> matrix_product;
#endif
constexpr std::uint32_t float_product[] = {
#include "spectr/backend/vulkan/words/float_product.inc"
};
constexpr std::uint32_t turn[] = {
#include "spectr/backend/vulkan/words/turn.inc"
};
constexpr std::uint32_t attend[] = {
#include "spectr/backend/vulkan/words/attend.inc"
};
constexpr std::uint32_t merge[] = {
#include "spectr/backend/vulkan/words/merge.inc"
};
constexpr std::uint32_t merge_quantized[] = {
#include "spectr/backend/vulkan/words/merge_quantized.inc"
};
constexpr std::uint32_t choose_experts[] = {
#include "spectr/backend/vulkan/words/choose_experts.inc"
};
constexpr std::uint32_t group_experts[] = {
#include "spectr/backend/vulkan/words/group_experts.inc"
};
constexpr std::uint32_t add_chosen[] = {
#include "spectr/backend/vulkan/words/add_chosen.inc"
};
constexpr std::uint32_t combine[] = {
#include "spectr/backend/vulkan/words/combine.inc"
};
constexpr std::uint32_t move[] = {
#include "spectr/backend/vulkan/words/move.inc"
};
constexpr std::uint32_t copy_heads[] = {
#include "spectr/backend/vulkan/words/copy_heads.inc"
};
constexpr std::uint32_t spread[] = {
#include "spectr/backend/vulkan/words/spread.inc"
};
constexpr std::uint32_t word_logits[] = {
#include "spectr/backend/vulkan/words/word_logits.inc"
};
constexpr std::uint32_t top[] = {
#include "spectr/backend/vulkan/words/top.inc"
};
constexpr std::uint32_t sum_exp[] = {
#include "spectr/backend/vulkan/words/sum_exp.inc"
};
constexpr std::uint32_t store_inputs[] = {
#include "spectr/backend/vulkan/words/store_inputs.inc"
};
constexpr std::uint32_t convolve[] = {
#include "spectr/backend/vulkan/words/convolve.inc"
};
constexpr std::uint32_t prepare_heads[] = {
#include "spectr/backend/vulkan/words/prepare_heads.inc"
};
constexpr std::uint32_t multiply_keys[] = {
#include "spectr/backend/vulkan/words/multiply_keys.inc"
};
constexpr std::uint32_t recur[] = {
#include "spectr/backend/vulkan/words/recur.inc"
};

/// Must be in the order of the enum.
constexpr std::array<KernelCode, kernel_count> all{{
    {"elementwise", elementwise, 3},
    {"elementwise_quantized", elementwise_quantized, 4},
    {"norm", norm, 6},
    {"norm_quantized", norm_quantized, 7},
    {"quantize", quantize, 2},
    {"panel_product", panel_product, 7},
    {"matrix_product", matrix_product, 6},
    {"float_product", float_product, 4},
    {"turn", turn, 8},
    {"attend", attend, 5},
    {"merge", merge, 4},
    {"merge_quantized", merge_quantized, 5},
    {"choose_experts", choose_experts, 5},
    {"group_experts", group_experts, 2},
    {"add_chosen", add_chosen, 3},
    {"combine", combine, 4},
    {"move", move, 3},
    {"copy_heads", copy_heads, 2},
    {"spread", spread, 3},
    {"word_logits", word_logits, 4},
    {"top", top, 2},
    {"sum_exp", sum_exp, 2},
    {"store_inputs", store_inputs, 5},
    {"convolve", convolve, 6},
    {"prepare_heads", prepare_heads, 6},
    {"multiply_keys", multiply_keys, 4},
    {"recur", recur, 8},
}};

}  // namespace

const KernelCode& code_of(Kernel kernel) {
  return all[static_cast<std::size_t>(kernel)];
}

}  // namespace spectr::vulkan
