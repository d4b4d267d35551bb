#include "spectr/nn/arch/gemma4.h"

#include <cmath>

#include "spectr/nn/arch/architectures.h"

namespace spectr {
namespace {

constexpr std::uint64_t max_dim = 1 << 12;
constexpr auto rms_norm = NormSpec::Kind::rms;
constexpr auto optional_bias = ArchReader::Bias::optional;

/// Settings that drafters do not have.
struct ModelKeys {
  std::size_t shared;     ///< number of last layers without keys and values of their own
  std::size_t layer_dim;  ///< width of the per-layer embeddings; 0: none
  float logit_cap;
  std::optional<ExpertKeys> experts;
};

Result<ModelKeys> model_keys(ArchReader& in) {
  ModelKeys keys{};
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
Result<std::size_t> shared_layer(ArchReader& in, const WindowKeys& windows, std::size_t shared,
                                 std::size_t layer) {
  for (std::size_t i = in.spec().layers.size() - shared; i-- > 0;) {
    if (windows.slides(i) == windows.slides(layer)) return i;
  }
  return error("{}: {} is {}: no layer has the keys and values for layer {}", in.file().name(),
               in.key("attention.shared_kv_layers"), shared, layer);
}

Result<void> keys_and_values(ArchReader& in, const Gemma4& gemma, std::size_t shared, std::size_t layer) {
  const std::size_t width = in.spec().width;
  const auto name = [layer](std::string_view part) { return block(layer, part); };
  AttentionSpec& a = *in.spec().layers[layer].attention();
  a.window = window_of(in, gemma.windows, layer);
  if (layer + shared >= in.spec().layers.size()) {
    SPECTR_TRY(a.kv_from, shared_layer(in, gemma.windows, shared, layer));
    // Some writers keep these tensors, although nothing reads them.
    for (const std::string_view part : {"attn_k.weight", "attn_v.weight", "attn_k_norm.weight"})
      in.leave_out_tensor(name(part));
    return {};
  }
  a.value_epsilon = gemma.keys.epsilon;
  SPECTR_TRY(a.k, in.linear(name("attn_k"), a.kv_heads * a.head_dim, width, optional_bias));
  SPECTR_TRY(a.k_norm, in.norm(name("attn_k_norm"), a.head_dim, rms_norm, gemma.keys.epsilon));
  a.v = a.k;
  if (in.has_tensor(name("attn_v.weight"))) {
    SPECTR_TRY(a.v, in.linear(name("attn_v"), a.kv_heads * a.head_dim, width, optional_bias));
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

Result<Gemma4> gemma4_keys(ArchReader& in) {
  Gemma4 gemma{};
  SPECTR_TRY(gemma.windows, window_keys(in, {.window = 0, .period = 6, .base = 10000}));
  SPECTR_TRY(gemma.window.head_dim, in.count("attention.key_length_swa", max_dim));
  const std::size_t dim = gemma.window.head_dim;
  SPECTR_TRY(const std::size_t values, in.count("attention.value_length_swa", max_dim, dim));
  if (values != dim) {
    return error("{}: {} is {}, but keys have {}; both must be equal", in.file().name(),
                 in.key("attention.value_length_swa"), values, dim);
  }
  SPECTR_TRY(const std::size_t rotated, in.count("rope.dimension_count_swa", dim, dim));
  gemma.window.rope = plain_rope(rotated, *gemma.windows.base, RopePairs::halves);
  SPECTR_TRY(gemma.keys, decoder_keys(in, rms_norm));
  SPECTR_TRY(gemma.rotation, rope_keys(in, gemma.keys.head_dim));
  gemma.full.head_dim = gemma.keys.head_dim;
  return gemma;
}

Result<void> gemma4_rotations(ArchReader& in, Gemma4& gemma) {
  SPECTR_TRY(gemma.full.rope, rope(in, gemma.rotation, RopePairs::halves));
  return {};
}

Result<void> gemma4_layer(ArchReader& in, const Gemma4& gemma, std::size_t index) {
  const std::size_t width = in.spec().width;
  LayerSpec& layer = in.spec().layers[index];
  const auto norm = [&](std::string_view part, std::size_t size) {
    return in.norm(block(index, part), size, rms_norm, gemma.keys.epsilon);
  };
  SPECTR_TRY(layer.mixer_norm, norm("attn_norm", width));
  AttentionSpec& a = layer.mixer.emplace<AttentionSpec>(attention_sizes(gemma.keys, index));
  a.head_dim = gemma.kind(index).head_dim;
  a.scale = 1;
  a.rope = gemma.kind(index).rope;
  SPECTR_TRY(a.q, in.linear(block(index, "attn_q"), a.heads * a.head_dim, width, optional_bias));
  SPECTR_TRY(a.q_norm, norm("attn_q_norm", a.head_dim));
  SPECTR_TRY(a.out, in.linear(block(index, "attn_output"), width, a.heads * a.head_dim, optional_bias));
  SPECTR_TRY(layer.mixer_post_norm, norm("post_attention_norm", width));
  SPECTR_TRY(layer.ffn_norm, norm("ffn_norm", width));
  SPECTR_TRY(layer.ffn, gated_ffn(in, index, gemma.keys.ffn[index], Activation::gelu_tanh));
  SPECTR_TRY(layer.ffn_post_norm, norm("post_ffw_norm", width));
  SPECTR_TRY(const std::vector<float> scale, in.numbers(block(index, "layer_output_scale.weight"), 1));
  if (!scale.empty()) layer.output_scale = scale.front();
  return {};
}

/// gemma4: like gemma3, but full layers have larger heads that are rotated in part, values are normalized,
/// and scores are not scaled. The last layers read the keys and values of earlier ones. A layer may have
/// embeddings of its own, and experts next to its dense block.
Result<void> read_gemma4(ArchReader& in) {
  ModelSpec& spec = in.spec();
  SPECTR_TRY(const ModelKeys own, model_keys(in));
  SPECTR_TRY(Gemma4 gemma, gemma4_keys(in));
  SPECTR_TRY_VOID(in.end_of_keys());

  SPECTR_TRY_VOID(embedding(in));
  spec.embed.scale = std::sqrt(static_cast<float>(spec.width));
  if (own.layer_dim > 0) SPECTR_TRY_VOID(layer_embeddings(in, gemma.keys, own.layer_dim));
  SPECTR_TRY_VOID(gemma4_rotations(in, gemma));
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    SPECTR_TRY_VOID(gemma4_layer(in, gemma, i));
    SPECTR_TRY_VOID(keys_and_values(in, gemma, own.shared, i));
    if (own.experts) SPECTR_TRY_VOID(experts_beside(in, gemma.keys, *own.experts, i));
    if (own.layer_dim > 0) {
      SPECTR_TRY(spec.layers[i].input, layer_input(in, gemma.keys, own.layer_dim, i));
    }
  }
  SPECTR_TRY_VOID(head(in, rms_norm, gemma.keys.epsilon, true));
  spec.head.cap = own.logit_cap;
  return {};
}

}  // namespace spectr
