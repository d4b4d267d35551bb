#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// llama: root-mean-square norms, neighbouring dimensions turn together, SwiGLU; biases where the file has
/// them.
Result<void> read_llama(ArchReader& in) {
  constexpr auto rms = NormSpec::Kind::rms;
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, rms));
  SPECTR_TRY(const RopeKeys turning, rope_keys(in, keys.head_dim));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(embedding(in));
  SPECTR_TRY(const RopeSpec positions, rope(in, turning, RopePairs::neighbours));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    SPECTR_TRY(layer.attention_norm, in.norm(block(i, "attn_norm"), spec.width, rms, keys.epsilon));
    layer.attention = attention_sizes(keys, i);
    layer.attention.rope = positions;
    SPECTR_TRY_VOID(separate_projections(in, i, ArchReader::Bias::optional));
    SPECTR_TRY(layer.ffn_norm, in.norm(block(i, "ffn_norm"), spec.width, rms, keys.epsilon));
    SPECTR_TRY(layer.ffn, gated_ffn(in, i, keys.ffn[i]));
  }
  return head(in, rms, keys.epsilon, true);
}

}  // namespace spectr
