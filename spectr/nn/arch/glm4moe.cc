#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {
namespace {

Result<void> head_norms_if_any(ArchReader& in, const DecoderKeys& keys, std::size_t layer) {
  if (!in.has_tensor(block(layer, "attn_q_norm.weight"))) return {};
  return head_norms(in, keys, layer);
}

}  // namespace

/// glm4moe: like llama, with biases of queries, keys and values, heads rotated in part, in pairs of halves,
/// and experts after the first layers, chosen by sigmoids with a bias, next to a block that all tokens share.
Result<void> read_glm4moe(ArchReader& in) {
  in.ignore({"rope.dimension_sections"});  // for images; in text, all sections share one position
  SPECTR_TRY(const ExpertKeys experts, expert_keys(in, ExpertsSpec::Gating::sigmoid, true));
  return gated_decoder(in, {.pairs = RopePairs::halves,
                            .beside = head_norms_if_any,
                            .experts = experts,
                            .ffn_norm = "post_attention_norm"});
}

}  // namespace spectr
