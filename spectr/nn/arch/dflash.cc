#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "spectr/base/names.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/arch/windows.h"
#include "spectr/nn/drafters/drafter_reader.h"
#include "spectr/nn/drafters/drafters.h"
#include "spectr/nn/drafters/transition_reader.h"

namespace spectr {
namespace {

constexpr auto block_rms = NormSpec::Kind::rms;
constexpr auto maybe_bias = ArchReader::Bias::optional;
constexpr std::uint64_t max_block_rows = 1 << 10, max_conv_kernel = 64, max_conv_group = 1 << 18;

/// Settings that all layers share.
struct BlockKeys {
  DecoderKeys decoder;
  RopeKeys rotation;
  WindowKeys windows;
  Activation activation;
  float attention_scale;                ///< 0: 1/√head_dim
  float output_scale;                   ///< factor of the attention's output
  std::size_t conv_kernel, conv_group;  ///< 0: no convolutions
};

Result<Activation> activation_key(ArchReader& in) {
  constexpr std::string_view key = "hidden_activation";
  SPECTR_TRY(const std::string_view name, in.string(key, "silu"));
  if (name == "silu") return Activation::silu;
  if (name == "gelu" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  return error(ErrorCode::unsupported, "{}: {} is {}, but silu, gelu and gelu_pytorch_tanh are supported",
               in.file().name(), in.key(key), quote(name));
}

Result<BlockSpec> block_keys(ArchReader& in) {
  constexpr std::string_view mask_key = "tokenizer.ggml.mask_token_id";
  BlockSpec block{};
  SPECTR_TRY(block.rows, in.count("block_size", max_block_rows, 16));
  if (block.rows < 2)
    return error("{}: {} is {}, but must be 2 or more", in.file().name(), in.key("block_size"), block.rows);
  SPECTR_TRY(const std::uint64_t mask, in.file().integer(mask_key));
  if (mask >= in.spec().vocabulary) {
    return error("{}: {} is {}, outside the target's vocabulary of {}", in.file().name(), mask_key, mask,
                 in.spec().vocabulary);
  }
  block.mask = static_cast<Token>(mask);
  SPECTR_TRY(block.causal, in.boolean("attention.causal", false));
  return block;
}

Result<BlockKeys> layer_keys(ArchReader& in) {
  BlockKeys keys{};
  ModelSpec& spec = in.spec();
  SPECTR_TRY(keys.windows, window_keys(in, {0, 1, {}}));
  if (keys.windows.window > 0 && keys.windows.pattern.empty()) {
    return error("{}: {} is {}, but {}, an array, is missing", spec.file, in.key("attention.sliding_window"),
                 keys.windows.window, in.key("attention.sliding_window_pattern"));
  }
  SPECTR_TRY(keys.activation, activation_key(in));
  SPECTR_TRY(keys.attention_scale, in.real("attention.scale", 1e-6, 1e6, 0));
  SPECTR_TRY(spec.embed.scale, in.real("embedding_scale", 1e-6, 1e6, 1));
  SPECTR_TRY(keys.conv_kernel, in.count_or_none("conv_kernel_size", max_conv_kernel));
  SPECTR_TRY(keys.conv_group, in.count_or_none("conv_group_size", max_conv_group));
  if (has_selector(in)) {
    SPECTR_TRY(spec.head.scale, in.real("logit_scale", 1e-6, 1e6, 1));
    SPECTR_TRY(spec.head.cap, in.real("final_logit_softcapping", 0, 1e6, 0));
  } else {  // no engine applies these keys
    in.leave_out("logit_scale");
    in.leave_out("final_logit_softcapping");
  }
  SPECTR_TRY(keys.output_scale, in.real("attention.value_scale", 1e-6, 1e6, 1));
  in.ignore({"rope.dimension_sections"});  // for images; in text, all sections share one position
  SPECTR_TRY(keys.decoder, decoder_keys(in, block_rms, {.reads_causal = true}));
  SPECTR_TRY(keys.rotation, rope_keys(in, keys.decoder.head_dim));
  if (keys.conv_kernel > 0 && (keys.conv_group == 0 || spec.width % keys.conv_group != 0)) {
    return error("{}: {} is {}, which does not divide {}, which is {}", spec.file, in.key("conv_group_size"),
                 keys.conv_group, in.key("embedding_length"), spec.width);
  }
  return keys;
}

/// Reads PREFIX.weight, and the factor PREFIX.scale of the product.
Result<LinearSpec> scaled_linear(ArchReader& in, const std::string& prefix, std::size_t out,
                                 std::size_t width) {
  SPECTR_TRY(LinearSpec linear, in.linear(prefix, out, width, maybe_bias));
  SPECTR_TRY_VOID(read_scale(in, prefix, linear));
  return linear;
}

Result<AttentionSpec> block_attention(ArchReader& in, const BlockKeys& keys, std::size_t layer) {
  const std::size_t width = in.spec().width;
  AttentionSpec a = attention_sizes(keys.decoder, layer);
  const std::size_t q = a.heads * a.head_dim, kv = a.kv_heads * a.head_dim;
  const auto norm = [&](std::string_view part) {
    return in.norm(block(layer, part), a.head_dim, block_rms, keys.decoder.epsilon);
  };
  SPECTR_TRY(a.q, scaled_linear(in, block(layer, "attn_q"), q, width));
  SPECTR_TRY(a.k, scaled_linear(in, block(layer, "attn_k"), kv, width));
  if (in.has_tensor(block(layer, "attn_v.weight"))) {
    SPECTR_TRY(a.v, scaled_linear(in, block(layer, "attn_v"), kv, width));
  } else {
    a.v = a.k;
    a.value_epsilon = keys.decoder.epsilon;
  }
  SPECTR_TRY(a.out, scaled_linear(in, block(layer, "attn_output"), width, q));
  SPECTR_TRY(a.q_norm, norm("attn_q_norm"));
  SPECTR_TRY(a.k_norm, norm("attn_k_norm"));
  if (keys.attention_scale != 0) a.scale = keys.attention_scale;
  a.output_scale = keys.output_scale;
  if (const std::string sinks = block(layer, "attn_sinks.weight"); in.has_tensor(sinks)) {
    SPECTR_TRY(a.sinks, in.vector(sinks, a.heads));
  }
  return a;
}

Result<BlockConvolutionSpec> convolution(ArchReader& in, const BlockKeys& keys, const std::string& prefix) {
  const std::size_t width = in.spec().width, kernel = keys.conv_kernel;
  BlockConvolutionSpec spec{kernel, keys.conv_group, {}, {}};
  SPECTR_TRY(spec.base, in.table(prefix + "_base", 2 * kernel, width));
  SPECTR_TRY(spec.factors,
             scaled_linear(in, prefix + "_proj", 2 * kernel * (width / keys.conv_group), width));
  return spec;
}

Result<void> read_layer(ArchReader& in, const BlockKeys& keys, std::size_t i, const RopeSpec& positions) {
  LayerSpec& layer = in.spec().layers[i];
  const auto norm = [&](std::string_view part) {
    return in.norm(block(i, part), in.spec().width, block_rms, keys.decoder.epsilon);
  };
  SPECTR_TRY(layer.mixer_norm, norm("attn_norm"));
  SPECTR_TRY(layer.ffn_norm, norm("ffn_norm"));
  if (in.has_tensor(block(i, "post_attention_norm.weight"))) {
    SPECTR_TRY(layer.mixer_post_norm, norm("post_attention_norm"));
  }
  if (in.has_tensor(block(i, "post_ffw_norm.weight"))) {
    SPECTR_TRY(layer.ffn_post_norm, norm("post_ffw_norm"));
  }
  SPECTR_TRY(AttentionSpec attention, block_attention(in, keys, i));
  attention.rope = positions;
  layer.mixer = std::move(attention);
  SPECTR_TRY(layer.ffn, gated_ffn(in, i, keys.decoder.ffn[i], keys.activation));
  if (layer.ffn->gate) SPECTR_TRY_VOID(read_scale(in, block(i, "ffn_gate"), *layer.ffn->gate));
  SPECTR_TRY_VOID(read_scale(in, block(i, "ffn_up"), layer.ffn->up));
  SPECTR_TRY_VOID(read_scale(in, block(i, "ffn_down"), layer.ffn->down));
  SPECTR_TRY(const auto scale, in.numbers(block(i, "layer_output_scale.weight"), 1));
  if (!scale.empty()) layer.output_scale = scale.front();
  if (keys.conv_kernel > 0) {
    SPECTR_TRY(layer.mixer_convolution, convolution(in, keys, block(i, "attn_conv")));
    SPECTR_TRY(layer.ffn_convolution, convolution(in, keys, block(i, "ffn_conv")));
  }
  return {};
}

}  // namespace

/// dflash (arXiv 2602.06036): a block [last token, mask, …] attends to itself and to the target's fused
/// states, from which each layer computes keys and values without its norm. With markov_w1 (DSpark, arXiv
/// 2607.05147), the previous token adds a bias to a row's logits; with selector_hidden (DFlash 2), the
/// previous token selects among the best candidates of a row.
Result<void> read_dflash(ArchReader& in, const ModelSpec& target, DrafterSpec& drafter) {
  drafter.kind = "dflash";
  ModelSpec& spec = drafter.model;
  SPECTR_TRY(BlockSpec block, block_keys(in));
  SPECTR_TRY(const BlockKeys keys, layer_keys(in));
  SPECTR_TRY(const TransitionKeys transitions, transition_keys(in));
  SPECTR_TRY_VOID(in.end_of_keys());
  if (spec.width != target.width) {
    return error("{}: {} is {}, but the target {} has {}", spec.file, in.key("embedding_length"), spec.width,
                 target.file, target.width);
  }

  SPECTR_TRY_VOID(drafter_embedding(in, target));
  FusionSpec& fusion = spec.fusion.emplace();
  SPECTR_TRY(fusion.linear, feature_projection(in, drafter.taps.size(), target));
  SPECTR_TRY_VOID(read_scale(in, "fc", fusion.linear));
  SPECTR_TRY(fusion.norm_after, in.norm("enc.output_norm", spec.width, block_rms, keys.decoder.epsilon));
  SPECTR_TRY(const RopeSpec positions, rope(in, keys.rotation, RopePairs::halves));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) SPECTR_TRY_VOID(read_layer(in, keys, i, positions));
  for (std::size_t i = 0; i < spec.layers.size(); ++i)
    if (keys.windows.slides(i)) spec.layers[i].attention()->window = keys.windows.window;
  SPECTR_TRY(spec.head.norm, in.norm("output_norm", spec.width, block_rms, keys.decoder.epsilon));
  SPECTR_TRY_VOID(drafter_head(in, target, true));
  if (LinearSpec& output = spec.head.output; in.has_tensor("output.weight")) {
    SPECTR_TRY_VOID(read_scale(in, "output", output));
    spec.head.scale *= std::exchange(output.scale, 1.0F);
  }
  spec.taps = {{spec.layers.size(), true}};
  SPECTR_TRY_VOID(read_transitions(in, transitions, spec.head.output.out, block));
  if (block.markov) drafter.kind = "dspark";
  if (block.selector) drafter.kind = "dflash2";
  drafter.block = std::move(block);
  return {};
}

}  // namespace spectr
