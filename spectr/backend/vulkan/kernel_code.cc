#include "spectr/backend/vulkan/kernel_code.h"

#include <array>

namespace spectr::vulkan {
namespace {

// The words of a kernel, between commas.
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
constexpr std::uint32_t product_q8_0[] = {
#include "spectr/backend/vulkan/words/product_q8_0.inc"
};
constexpr std::uint32_t product_q5_0[] = {
#include "spectr/backend/vulkan/words/product_q5_0.inc"
};
constexpr std::uint32_t product_q4_0[] = {
#include "spectr/backend/vulkan/words/product_q4_0.inc"
};
constexpr std::uint32_t product_q6_k[] = {
#include "spectr/backend/vulkan/words/product_q6_k.inc"
};
constexpr std::uint32_t product_q5_k[] = {
#include "spectr/backend/vulkan/words/product_q5_k.inc"
};
constexpr std::uint32_t product_q4_k[] = {
#include "spectr/backend/vulkan/words/product_q4_k.inc"
};
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
constexpr std::uint32_t move[] = {
#include "spectr/backend/vulkan/words/move.inc"
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

/// In the order of the enum.
constexpr std::array<KernelCode, kernel_count> all{{
    {"elementwise", elementwise, 3},
    {"elementwise_quantized", elementwise_quantized, 4},
    {"norm", norm, 6},
    {"norm_quantized", norm_quantized, 7},
    {"quantize", quantize, 2},
    {"product_q8_0", product_q8_0, 6},
    {"product_q5_0", product_q5_0, 6},
    {"product_q4_0", product_q4_0, 6},
    {"product_q6_k", product_q6_k, 6},
    {"product_q5_k", product_q5_k, 6},
    {"product_q4_k", product_q4_k, 6},
    {"float_product", float_product, 3},
    {"turn", turn, 8},
    {"attend", attend, 5},
    {"merge", merge, 4},
    {"merge_quantized", merge_quantized, 5},
    {"move", move, 3},
    {"spread", spread, 3},
    {"word_logits", word_logits, 4},
    {"top", top, 2},
    {"sum_exp", sum_exp, 2},
}};

}  // namespace

const KernelCode& code_of(Kernel kernel) {
  return all[static_cast<std::size_t>(kernel)];
}

}  // namespace spectr::vulkan
