#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"

namespace spectr {

/// opt: like gpt2, with separate matrices for queries, keys and values, and ReLU. With `norms_behind_sums`,
/// the stream itself is normalized after each block instead of the blocks' inputs: a layer's tensors
/// attn_norm and ffn_norm are then the norms after its attention and its feed-forward block, and there is no
/// output_norm.
Result<void> read_opt(ArchReader& in) {
  constexpr auto layer_norm = NormSpec::Kind::layer;
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const bool behind_sums, in.boolean("norms_behind_sums", false));
  in.require_if(behind_sums, Feature::stream_norms, "norms_behind_sums");
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, layer_norm));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(embedding(in));
  SPECTR_TRY(spec.embed.positions, in.matrix("position_embd.weight", spec.context, spec.width));
  spec.max_context = spec.context;
  std::optional<NormSpec> before;  // norm after the previous layer
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    SPECTR_TRY(const NormSpec first, in.norm(block(i, "attn_norm"), spec.width, layer_norm, keys.epsilon));
    SPECTR_TRY(const NormSpec second, in.norm(block(i, "ffn_norm"), spec.width, layer_norm, keys.epsilon));
    layer.norms_stream = behind_sums;
    layer.mixer_norm = behind_sums ? before : first;
    layer.ffn_norm = behind_sums ? first : second;
    before = second;
    layer.mixer = attention_sizes(keys, i);
    SPECTR_TRY_VOID(separate_projections(in, i, ArchReader::Bias::optional));
    SPECTR_TRY(layer.ffn, plain_ffn(in, i, keys.ffn[i], Activation::relu));
  }
  if (!behind_sums) return head(in, layer_norm, keys.epsilon, true);
  spec.head.norm = *before;
  SPECTR_TRY(spec.head.output, output_matrix(in, true));
  return {};
}

}  // namespace spectr
