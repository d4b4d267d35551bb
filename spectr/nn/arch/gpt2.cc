#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// gpt2: layer norms, learned positions, one matrix for queries, keys and values, GELU, biases everywhere.
Result<void> read_gpt2(ArchReader& in) {
  constexpr auto layer_norm = NormSpec::Kind::layer;
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, layer_norm));
  SPECTR_TRY_VOID(fused_heads(in, keys));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(embedding(in));
  SPECTR_TRY(spec.embed.positions, in.matrix("position_embd.weight", spec.context, spec.width));
  spec.max_context = spec.context;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    SPECTR_TRY(layer.mixer_norm, in.norm(block(i, "attn_norm"), spec.width, layer_norm, keys.epsilon));
    layer.mixer = attention_sizes(keys, i);
    SPECTR_TRY_VOID(fused_projections(in, i, ArchReader::Bias::required));
    SPECTR_TRY(layer.ffn_norm, in.norm(block(i, "ffn_norm"), spec.width, layer_norm, keys.epsilon));
    SPECTR_TRY(layer.ffn, plain_ffn(in, i, keys.ffn[i]));
  }
  return head(in, layer_norm, keys.epsilon, true);
}

}  // namespace spectr
