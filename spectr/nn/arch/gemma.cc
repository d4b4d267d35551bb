#include "spectr/nn/arch/gemma.h"

#include <cmath>

namespace spectr {

Result<void> read_gemma(ArchReader& in, const Gemma& generation) {
  constexpr std::string_view score_key = "attn_logit_softcapping", logit_key = "final_logit_softcapping";
  SPECTR_TRY(const WindowKeys windows, window_keys(in, generation.windows));
  SPECTR_TRY(const float score_cap, in.real(score_key, 0, 1e6, generation.score_cap));
  SPECTR_TRY(const float logit_cap, in.real(logit_key, 0, 1e6, generation.logit_cap));
  in.require_if(score_cap > 0, Feature::score_cap, score_key);
  in.require_if(logit_cap > 0, Feature::logit_cap, logit_key);
  SPECTR_TRY_VOID(gated_decoder(in, {.pairs = RopePairs::halves,
                                     .beside = generation.head_norms ? head_norms : nullptr,
                                     .norms = NormPlace::around_blocks,
                                     .activation = Activation::gelu_tanh}));
  apply_windows(in, windows);

  ModelSpec& spec = in.spec();
  spec.embed.scale = std::sqrt(static_cast<float>(spec.width));
  spec.head.cap = logit_cap;
  for (LayerSpec& layer : spec.layers) {
    AttentionSpec& attention = *layer.attention();
    attention.score_cap = score_cap;
    if (spec.layers.size() == generation.layers_scaled_by_width) {
      attention.scale = 1 / std::sqrt(static_cast<float>(spec.width) / static_cast<float>(attention.heads));
    }
  }
  return {};
}

}  // namespace spectr
