#include "spectr/nn/arch/parts.h"
#include "spectr/nn/drafters/drafter_reader.h"
#include "spectr/nn/drafters/drafters.h"

namespace spectr {
namespace {

Result<AttentionSpec> pair_attention(ArchReader& in, const DecoderKeys& keys, std::size_t pair_width) {
  constexpr auto bias = ArchReader::Bias::optional;
  AttentionSpec a = attention_sizes(keys, 0);
  const std::size_t q = a.heads * a.head_dim, kv = a.kv_heads * a.head_dim;
  SPECTR_TRY(a.q, in.linear(block(0, "attn_q"), q, pair_width, bias));
  SPECTR_TRY(a.k, in.linear(block(0, "attn_k"), kv, pair_width, bias));
  SPECTR_TRY(a.v, in.linear(block(0, "attn_v"), kv, pair_width, bias));
  SPECTR_TRY(a.out, in.linear(block(0, "attn_output"), in.spec().width, q, bias));
  return a;
}

}  // namespace

/// eagle3 (arXiv 2503.01840): one layer on [norm(embedding); norm(state)]. Row j holds token j + 1 and, as
/// its state, the fused features of the target's token j or the last layer's output of the previous row.
/// Rotary pairs are interleaved.
Result<void> read_eagle3(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter) {
  constexpr auto rms = NormSpec::Kind::rms;
  drafter.kind = "eagle3";
  ModelSpec& spec = drafter.model;
  if (spec.layers.size() != 1)
    return error("{}: {} is {}, but must be 1", spec.file, in.key("block_count"), spec.layers.size());
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, rms));
  SPECTR_TRY(const RopeKeys rotation, rope_keys(in, keys.head_dim));
  SPECTR_TRY(const bool normed_residual, in.boolean("norm_before_residual", false));
  SPECTR_TRY(const bool norms_features, in.boolean("norm_before_fc", false));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(drafter_embedding(in, target));
  const std::size_t features = drafter.taps.size() * target.width;
  FusionSpec& fusion = spec.fusion.emplace();
  if (norms_features) {
    SPECTR_TRY(fusion.norm_before, in.norm("enc.output_norm", features, rms, keys.epsilon));
  }
  SPECTR_TRY(fusion.linear, feature_projection(in, drafter.taps.size(), target));

  PairSpec& pair = spec.pair.emplace(PairSpec{.token_width = spec.width, .state_width = spec.width});
  SPECTR_TRY(pair.token_norm, in.norm(block(0, "attn_norm"), spec.width, rms, keys.epsilon));
  SPECTR_TRY(pair.state_norm, in.norm(block(0, "attn_norm_2"), spec.width, rms, keys.epsilon));
  pair.normed_residual = normed_residual;

  LayerSpec& layer = spec.layers.front();
  SPECTR_TRY(AttentionSpec attention, pair_attention(in, keys, 2 * spec.width));
  SPECTR_TRY(attention.rope, rope(in, rotation, RopePairs::interleaved));
  layer.mixer = std::move(attention);
  SPECTR_TRY(layer.ffn_norm, in.norm(block(0, "ffn_norm"), spec.width, rms, keys.epsilon));
  SPECTR_TRY(layer.ffn, gated_ffn(in, 0, keys.ffn[0]));
  SPECTR_TRY(spec.head.norm, in.norm("output_norm", spec.width, rms, keys.epsilon));
  spec.taps = {{1}};  // state of the next row
  return drafter_head(in, target, false);
}

}  // namespace spectr
