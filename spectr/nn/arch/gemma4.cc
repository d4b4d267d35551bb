#include <cmath>

#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/arch/parts.h"
#include "spectr/nn/arch/windows.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_dim = 1 << 12;
constexpr auto rms_norm = NormSpec::Kind::rms;
constexpr auto optional_bias = ArchReader::Bias::optional;

/// Settings that differ between full layers and layers with a window.
struct Kind {
  std::size_t head_dim;
  RopeSpec rope;
};

struct Gemma4Keys {
  WindowKeys windows;
  std::size_t window_dim, window_rope_dims;
  std::size_t shared;     ///< number of last layers without keys and values of their own
  std::size_t layer_dim;  ///< width of the per-layer embeddings; 0: none
  float logit_cap;
  std::optional<ExpertKeys> experts;
};

Result<Gemma4Keys> gemma4_keys(ArchReader& in) {
  Gemma4Keys keys{};
  SPECTR_TRY(keys.windows, window_keys(in, {.window = 0, .period = 6, .base = 10000}));
  SPECTR_TRY(keys.window_dim, in.count("attention.key_length_swa", max_dim));
  SPECTR_TRY(const std::size_t values, in.count("attention.value_length_swa", max_dim, keys.window_dim));
  if (values != keys.window_dim) {
    return error("{}: {} is {}, but keys have {}; both must be equal", in.file().name(),
                 in.key("attention.value_length_swa"), values, keys.window_dim);
  }
  SPECTR_TRY(keys.window_rope_dims, in.count("rope.dimension_count_swa", keys.window_dim, keys.window_dim));
  SPECTR_TRY(keys.shared, in.count_or_none("attention.shared_kv_layers", in.spec().layers.size() - 1));
  SPECTR_TRY(keys.layer_dim, in.count_or_none("embedding_length_per_layer_input", max_dim));
  SPECTR_TRY(keys.logit_cap, in.real("final_logit_softcapping", 0, 1e6, 0));
  in.require_if(keys.shared > 0, Feature::shared_keys, "attention.shared_kv_layers");
  in.require_if(keys.layer_dim > 0, Feature::layer_embeddings, "embedding_length_per_layer_input");
  in.require_if(keys.logit_cap > 0, Feature::logit_cap, "final_logit_softcapping");
  SPECTR_TRY(keys.experts, experts_or_none(in, ExpertsSpec::Gating::softmax, true));
  return keys;
}

/// Returns the layer whose keys and values a last layer reads: the last of its kind that has its own.
Result<std::size_t> shared_layer(ArchReader& in, const Gemma4Keys& keys, std::size_t layer) {
  for (std::size_t i = in.spec().layers.size() - keys.shared; i-- > 0;) {
    if (keys.windows.slides(i) == keys.windows.slides(layer)) return i;
  }
  return error("{}: {} is {}: no layer has the keys and values for layer {}", in.file().name(),
               in.key("attention.shared_kv_layers"), keys.shared, layer);
}

Result<void> attention(ArchReader& in, const DecoderKeys& keys, const Gemma4Keys& own, const Kind& kind,
                       std::size_t layer) {
  const std::size_t width = in.spec().width, dim = kind.head_dim;
  const auto name = [layer](std::string_view part) { return block(layer, part); };
  AttentionSpec& a = in.spec().layers[layer].mixer.emplace<AttentionSpec>(attention_sizes(keys, layer));
  a.head_dim = dim;
  a.scale = 1;
  a.rope = kind.rope;
  a.window = window_of(in, own.windows, layer);
  SPECTR_TRY(a.q, in.linear(name("attn_q"), a.heads * dim, width, optional_bias));
  SPECTR_TRY(a.q_norm, in.norm(name("attn_q_norm"), dim, rms_norm, keys.epsilon));
  SPECTR_TRY(a.out, in.linear(name("attn_output"), width, a.heads * dim, optional_bias));
  if (layer + own.shared >= in.spec().layers.size()) {
    SPECTR_TRY(a.kv_from, shared_layer(in, own, layer));
    // Some writers keep these tensors, although nothing reads them.
    for (const std::string_view part : {"attn_k.weight", "attn_v.weight", "attn_k_norm.weight"})
      in.leave_out_tensor(name(part));
    return {};
  }
  a.value_epsilon = keys.epsilon;
  SPECTR_TRY(a.k, in.linear(name("attn_k"), a.kv_heads * dim, width, optional_bias));
  SPECTR_TRY(a.k_norm, in.norm(name("attn_k_norm"), dim, rms_norm, keys.epsilon));
  a.v = a.k;
  if (in.has_tensor(name("attn_v.weight"))) {
    SPECTR_TRY(a.v, in.linear(name("attn_v"), a.kv_heads * dim, width, optional_bias));
  }
  return {};
}

/// Reads experts next to the dense block, both with norms of their own. The router reads the stream,
/// normalized and divided by √width.
Result<void> experts_beside(ArchReader& in, const DecoderKeys& keys, const ExpertKeys& own,
                            std::size_t layer) {
  const std::size_t width = in.spec().width;
  const auto name = [layer](std::string_view part) { return block(layer, part); };
  LayerSpec& spec = in.spec().layers[layer];
  SPECTR_TRY_VOID(experts(in, own, layer, keys.ffn[layer], Activation::gelu_tanh));
  const auto norm = [&](std::string_view part) { return in.norm(name(part), width, rms_norm, keys.epsilon); };
  SPECTR_TRY(spec.experts_norm, norm("pre_ffw_norm_2"));
  SPECTR_TRY(spec.dense_post_norm, norm("post_ffw_norm_1"));
  SPECTR_TRY(spec.experts_post_norm, norm("post_ffw_norm_2"));
  SPECTR_TRY(const WeightId router, in.vector(name("ffn_gate_inp.scale"), width));
  spec.experts->router_norm = NormSpec{rms_norm, router, {}, keys.epsilon};
  spec.experts->router_scale = 1 / std::sqrt(static_cast<float>(width));
  if (in.has_tensor(name("ffn_down_exps.scale"))) {
    SPECTR_TRY(spec.experts->scales, in.vector(name("ffn_down_exps.scale"), own.count));
  }
  return {};
}

Result<void> layer_embeddings(ArchReader& in, const DecoderKeys& keys, std::size_t dim) {
  ModelSpec& spec = in.spec();
  const std::size_t all = spec.layers.size() * dim;
  LayerEmbeddingSpec embeddings{};
  embeddings.dim = dim;
  SPECTR_TRY(embeddings.tokens, in.matrix("per_layer_token_embd.weight", spec.vocabulary, all));
  SPECTR_TRY(embeddings.projection, in.linear("per_layer_model_proj", all, spec.width, optional_bias));
  // The norm applies to projections divided by √width. Scaling ε by the width has the same effect.
  SPECTR_TRY(embeddings.norm,
             in.norm("per_layer_proj_norm", dim, rms_norm, keys.epsilon * static_cast<float>(spec.width)));
  spec.embed.by_layer = embeddings;
  return {};
}

Result<LayerInputSpec> layer_input(ArchReader& in, const DecoderKeys& keys, std::size_t dim,
                                   std::size_t layer) {
  const std::size_t width = in.spec().width;
  LayerInputSpec input{};
  input.activation = Activation::gelu_tanh;
  SPECTR_TRY(input.gate, in.linear(block(layer, "inp_gate"), dim, width, optional_bias));
  SPECTR_TRY(input.out, in.linear(block(layer, "proj"), width, dim, optional_bias));
  SPECTR_TRY(input.norm, in.norm(block(layer, "post_norm"), width, rms_norm, keys.epsilon));
  return input;
}

}  // namespace

/// gemma4: like gemma3, but full layers have larger heads that are rotated in part, values are normalized,
/// and scores are not scaled. The last layers read the keys and values of earlier ones. A layer may have
/// embeddings of its own, and experts next to its dense block.
Result<void> read_gemma4(ArchReader& in) {
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const Gemma4Keys own, gemma4_keys(in));
  SPECTR_TRY(const DecoderKeys keys, decoder_keys(in, rms_norm));
  SPECTR_TRY(const RopeKeys rotation, rope_keys(in, keys.head_dim));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(embedding(in));
  spec.embed.scale = std::sqrt(static_cast<float>(spec.width));
  if (own.layer_dim > 0) SPECTR_TRY_VOID(layer_embeddings(in, keys, own.layer_dim));
  Kind full{keys.head_dim, {}};
  SPECTR_TRY(full.rope, rope(in, rotation, RopePairs::halves));
  const Kind window{own.window_dim, plain_rope(own.window_rope_dims, *own.windows.base, RopePairs::halves)};
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    const auto norm = [&](std::string_view part) {
      return in.norm(block(i, part), spec.width, rms_norm, keys.epsilon);
    };
    SPECTR_TRY(layer.mixer_norm, norm("attn_norm"));
    SPECTR_TRY_VOID(attention(in, keys, own, own.windows.slides(i) ? window : full, i));
    SPECTR_TRY(layer.mixer_post_norm, norm("post_attention_norm"));
    SPECTR_TRY(layer.ffn_norm, norm("ffn_norm"));
    SPECTR_TRY(layer.ffn, gated_ffn(in, i, keys.ffn[i], Activation::gelu_tanh));
    if (own.experts) SPECTR_TRY_VOID(experts_beside(in, keys, *own.experts, i));
    SPECTR_TRY(layer.ffn_post_norm, norm("post_ffw_norm"));
    if (own.layer_dim > 0) {
      SPECTR_TRY(layer.input, layer_input(in, keys, own.layer_dim, i));
    }
    SPECTR_TRY(const std::vector<float> scale, in.numbers(block(i, "layer_output_scale.weight"), 1));
    if (!scale.empty()) layer.output_scale = scale.front();
  }
  SPECTR_TRY_VOID(head(in, rms_norm, keys.epsilon, true));
  spec.head.cap = own.logit_cap;
  return {};
}

}  // namespace spectr
