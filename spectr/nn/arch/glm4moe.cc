#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {
namespace {

Result<void> head_norms_if_any(ArchReader& in, const DecoderKeys& keys, std::size_t layer) {
  if (!in.has_tensor(block(layer, "attn_q_norm.weight"))) return {};
  return head_norms(in, keys, layer);
}

}  // namespace

/// glm4moe: as llama, with biases of queries, keys and values; the halves of a part of each head turn
/// together; experts behind the first layers, chosen by sigmoids with a bias, beside a block for all tokens.
Result<void> read_glm4moe(ArchReader& in) {
  in.ignore({"rope.dimension_sections"});  // of pictures; in a text all sections are at one position
  SPECTR_TRY(const ExpertKeys experts, expert_keys(in, ExpertsSpec::Gating::sigmoid, true));
  return gated_decoder(in, {.pairs = RopePairs::halves,
                            .beside = head_norms_if_any,
                            .experts = experts,
                            .ffn_norm = "post_attention_norm"});
}

}  // namespace spectr
