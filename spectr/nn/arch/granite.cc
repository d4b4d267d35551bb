#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// granite: like llama, with factors of the embeddings, of block outputs and of attention scores, and a
/// divisor of the logits. If `rope.scaling.finetuned` is false, there are no rotary positions.
Result<void> read_granite(ArchReader& in) {
  constexpr double least = 1e-6, most = 1e6;
  SPECTR_TRY(const float embedding, in.real("embedding_scale", least, most, 1));
  SPECTR_TRY(const float residual, in.real("residual_scale", least, most, 1));
  SPECTR_TRY(const float scores, in.real("attention.scale", 0, most, 0));
  SPECTR_TRY(const float logits, in.real("logit_scale", least, most, 1));
  in.ignore({"deepstack_mapping"});  // additions to layers for images
  SPECTR_TRY(const bool turns, in.boolean("rope.scaling.finetuned", true));
  in.require_if(embedding != 1, Feature::embedding_scale, "embedding_scale");
  in.require_if(residual != 1, Feature::residual_scale, "residual_scale");
  in.require_if(logits != 1, Feature::logit_scale, "logit_scale");
  SPECTR_TRY_VOID(gated_decoder(in, {.pairs = RopePairs::interleaved}));

  ModelSpec& spec = in.spec();
  spec.embed.scale = embedding;
  spec.head.scale = 1 / logits;
  for (LayerSpec& layer : spec.layers) {
    layer.residual_scale = residual;
    if (scores > 0) layer.attention()->scale = scores;
    if (!turns) layer.attention()->rope = {};
  }
  return {};
}

}  // namespace spectr
