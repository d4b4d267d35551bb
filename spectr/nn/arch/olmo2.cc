#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// olmo2: blocks read the stream as it is, and what they add is normalized; so are queries and keys, the
/// heads of each together. The halves of a head turn together.
Result<void> read_olmo2(ArchReader& in) {
  constexpr auto rms = NormSpec::Kind::rms;
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, rms));
  SPECTR_TRY(const RopeKeys rotation, rope_keys(in, keys.head_dim));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(embedding(in));
  SPECTR_TRY(const RopeSpec positions, rope(in, rotation, RopePairs::halves));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    AttentionSpec& attention = layer.attention = attention_sizes(keys, i);
    const auto norm = [&](std::string_view part, std::size_t size) {
      return in.norm(block(i, part), size, rms, keys.epsilon);
    };
    attention.rope = positions;
    attention.norms_whole_vector = true;
    SPECTR_TRY_VOID(separate_projections(in, i, ArchReader::Bias::optional));
    SPECTR_TRY(attention.q_norm, norm("attn_q_norm", attention.q.out));
    SPECTR_TRY(attention.k_norm, norm("attn_k_norm", attention.k.out));
    SPECTR_TRY(layer.attention_post_norm, norm("post_attention_norm", spec.width));
    SPECTR_TRY(layer.ffn, gated_ffn(in, i, keys.ffn[i]));
    SPECTR_TRY(layer.ffn_post_norm, norm("post_ffw_norm", spec.width));
  }
  return head(in, rms, keys.epsilon, true);
}

}  // namespace spectr
