#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/arch/windows.h"

namespace spectr {
namespace {

Result<void> sinks(ArchReader& in, const DecoderKeys&, std::size_t layer) {
  AttentionSpec& attention = *in.spec().layers[layer].attention();
  SPECTR_TRY(attention.sinks, in.vector(block(layer, "attn_sinks.weight"), attention.heads));
  return {};
}

}  // namespace

/// gpt-oss: experts with biases and clamped gates, windows in every second layer, attention sinks. YaRN's
/// bounds are not rounded, as in training; no key exists for it.
Result<void> read_gpt_oss(ArchReader& in) {
  constexpr float clamp = 7;
  in.require_if(true, Feature::attention_sinks, "attention.sliding_window");
  SPECTR_TRY(const WindowKeys windows, window_keys(in, {.window = 128, .period = 2, .base = {}}));
  SPECTR_TRY(const ExpertKeys experts, expert_keys(in, ExpertsSpec::Gating::softmax_of_chosen, false));
  SPECTR_TRY_VOID(gated_decoder(in, {.pairs = RopePairs::halves,
                                     .beside = sinks,
                                     .activation = Activation::clamped_silu,
                                     .experts = experts,
                                     .rounds_yarn = false,
                                     .ffn_norm = "post_attention_norm"}));
  apply_windows(in, windows);
  for (LayerSpec& layer : in.spec().layers) {
    for (DenseSpec& block : layer.experts->blocks) block.clamp = clamp;
  }
  return {};
}

}  // namespace spectr
