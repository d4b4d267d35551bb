#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// gptneox: like gpt2, but with rotary pairs (i, i + dims / 2) and an output matrix of its own. Attention and
/// feed-forward block may read the same stream.
Result<void> read_gptneox(ArchReader& in) {
  constexpr auto layer_norm = NormSpec::Kind::layer;
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, layer_norm));
  SPECTR_TRY_VOID(fused_heads(in, keys));
  SPECTR_TRY(const RopeKeys rotation, rope_keys(in, keys.head_dim));
  SPECTR_TRY(const bool parallel, in.boolean("use_parallel_residual", true));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(embedding(in));
  SPECTR_TRY(const RopeSpec positions, rope(in, rotation, RopePairs::halves));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    SPECTR_TRY(layer.mixer_norm, in.norm(block(i, "attn_norm"), spec.width, layer_norm, keys.epsilon));
    layer.mixer.emplace<AttentionSpec>(attention_sizes(keys, i)).rope = positions;
    layer.parallel = parallel;
    SPECTR_TRY_VOID(fused_projections(in, i, ArchReader::Bias::required));
    SPECTR_TRY(layer.ffn_norm, in.norm(block(i, "ffn_norm"), spec.width, layer_norm, keys.epsilon));
    SPECTR_TRY(layer.ffn, plain_ffn(in, i, keys.ffn[i]));
  }
  return head(in, layer_norm, keys.epsilon, false);
}

}  // namespace spectr
