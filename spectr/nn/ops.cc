#include "spectr/nn/ops.h"

#include <algorithm>

#include "spectr/base/check.h"
#include "spectr/gguf/stored_format.h"

namespace spectr {
namespace {

template <class T>
bool has(const std::vector<T>& all, T one) {
  return std::ranges::find(all, one) != all.end();
}

template <class T>
std::string names_of_all(const std::vector<T>& all) {
  std::string names;
  for (const T& one : all) {
    if (!names.empty()) names += ", ";
    if constexpr (std::is_same_v<T, TensorType>) {
      names += format_of(one).name;
    } else {
      names += fmt::format("{} and {}", name_of(one.keys), name_of(one.values));
    }
  }
  return names;
}

/// Returns the features that a spec's fields need.
std::vector<Feature> features_of(const ModelSpec& spec) {
  std::vector<Feature> features;
  const auto need = [&features](bool needed, Feature feature) {
    if (needed) features.push_back(feature);
  };
  need(spec.embed.scale != 1.0f, Feature::embedding_scale);
  need(spec.embed.by_layer.has_value(), Feature::layer_embeddings);
  need(spec.embed.segments.has_value(), Feature::segment_embeddings);
  for (const LayerSpec& layer : spec.layers) {
    if (const AttentionSpec* a = layer.attention()) {
      need(a->window > 0, Feature::sliding_window);
      need(a->score_cap > 0.0F, Feature::score_cap);
      need(a->sinks.has_value(), Feature::attention_sinks);
      need(a->temperature.has_value(), Feature::attention_temperature);
      need(a->gate.has_value(), Feature::gated_attention);
      need(a->latent.has_value(), Feature::latent_attention);
      need(a->kv_from.has_value(), Feature::shared_keys);
      need(a->kv_of_target, Feature::drafter_inputs);
      need(a->value_epsilon.has_value(), Feature::value_norms);
      need(a->norms_whole_vector, Feature::whole_vector_norms);
      need(a->output_scale != 1.0F, Feature::residual_scale);
      need(a->rope.magnitude != 1.0F, Feature::rope_magnitude);
      need(!a->rope.long_frequencies.empty(), Feature::rope_by_context);
    }
    need(layer.delta_net() != nullptr, Feature::recurrent_mixer);
    need(layer.short_convolution() != nullptr, Feature::short_convolution);
    const auto has = [&](Activation activation) {
      const auto of = [activation](const DenseSpec& block) { return block.activation == activation; };
      return (layer.ffn && of(*layer.ffn)) ||
             (layer.experts && std::ranges::any_of(layer.experts->blocks, of));
    };
    need(has(Activation::clamped_silu), Feature::clamped_activation);
    need(has(Activation::relu), Feature::relu);
    need(has(Activation::gelu), Feature::exact_gelu);
    need(layer.norms_stream, Feature::stream_norms);
    need(layer.mixer_convolution || layer.ffn_convolution, Feature::block_convolutions);
    if (layer.experts) {
      const ExpertsSpec& experts = *layer.experts;
      features.push_back(Feature::experts);
      need(experts.groups > 1, Feature::expert_groups);
      need(experts.scales.has_value(), Feature::expert_scales);
      need(experts.router_norm.has_value(), Feature::router_norms);
      need(layer.ffn.has_value(), Feature::blocks_beside_experts);
    }
    need(layer.residual_scale != 1.0f, Feature::residual_scale);
    need(layer.output_scale != 1.0F, Feature::output_scale);
  }
  need(!spec.head.norm, Feature::head_without_norm);
  need(spec.head.cap > 0.0f, Feature::logit_cap);
  need(spec.head.scale != 1.0f, Feature::logit_scale);
  need(spec.fusion || spec.pair, Feature::drafter_inputs);
  need(!spec.taps.empty(), Feature::taps);
  need(!spec.head.shortlist.empty(), Feature::shortlist);
  need(!spec.head.forbidden.empty(), Feature::forbidden_tokens);
  return features;
}

}  // namespace

std::string_view name_of(Feature feature) {
  switch (feature) {
    case Feature::sliding_window:
      return "sliding windows";
    case Feature::score_cap:
      return "caps on attention scores";
    case Feature::attention_sinks:
      return "attention sinks";
    case Feature::attention_temperature:
      return "attention temperatures";
    case Feature::gated_attention:
      return "gates of attention";
    case Feature::latent_attention:
      return "latent keys and values";
    case Feature::shared_keys:
      return "layers that share keys and values";
    case Feature::value_norms:
      return "norms of values";
    case Feature::whole_vector_norms:
      return "norms of all heads together";
    case Feature::rope_magnitude:
      return "scaled rotations";
    case Feature::rope_by_context:
      return "rotations by the length of the context";
    case Feature::stream_norms:
      return "norms of the stream itself";
    case Feature::recurrent_mixer:
      return "recurrent layers";
    case Feature::short_convolution:
      return "short convolutions";
    case Feature::experts:
      return "mixtures of experts";
    case Feature::expert_groups:
      return "groups of experts";
    case Feature::expert_scales:
      return "scaled experts";
    case Feature::router_norms:
      return "routers with norms";
    case Feature::blocks_beside_experts:
      return "blocks beside experts";
    case Feature::clamped_activation:
      return "clamped activations";
    case Feature::relu:
      return "rectified activations";
    case Feature::exact_gelu:
      return "exact Gaussian activations";
    case Feature::logit_cap:
      return "caps on logits";
    case Feature::embedding_scale:
      return "scaled embeddings";
    case Feature::layer_embeddings:
      return "embeddings for each layer";
    case Feature::segment_embeddings:
      return "embeddings of segments";
    case Feature::residual_scale:
      return "scaled residuals";
    case Feature::output_scale:
      return "scaled layers";
    case Feature::logit_scale:
      return "scaled logits";
    case Feature::forbidden_tokens:
      return "tokens that never come";
    case Feature::head_without_norm:
      return "heads without a norm";
    case Feature::drafter_inputs:
      return "drafters that read states of a target";
    case Feature::block_convolutions:
      return "convolutions over blocks";
    case Feature::taps:
      return "states that passes hand out";
    case Feature::shortlist:
      return "logits of some tokens only";
  }
  return "";
}

namespace {

/// Returns the columns of a buffer that a mixer needs.
std::size_t cols_of(const AttentionSpec& a, Buffer buffer) {
  switch (buffer) {
    case Buffer::query:
    case Buffer::attended:
      return a.heads * a.head_dim;
    case Buffer::key:
    case Buffer::value:
      return a.kv_heads * a.head_dim;
    case Buffer::gate:
      if (a.latent && a.latent->q_down) return a.latent->q_down->out;
      return a.gate ? a.gate->out : 0;
    case Buffer::up:
      return a.latent ? std::max(a.q.out, a.out.in) : 0;
    default:
      return 0;
  }
}

std::size_t cols_of(const DeltaNetSpec& delta, Buffer buffer) {
  switch (buffer) {
    case Buffer::query:
      return delta.channels();
    case Buffer::key:
    case Buffer::value:
      return delta.value_heads;
    case Buffer::gate:
    case Buffer::attended:
      return delta.inner();
    default:
      return 0;
  }
}

std::size_t cols_of(const ShortConvolutionSpec& convolution, Buffer buffer) {
  if (buffer == Buffer::query) return convolution.in.out;
  return buffer == Buffer::attended ? convolution.out.in : 0;
}

}  // namespace

std::size_t ModelSpec::input_width() const {
  const std::size_t state = pair ? pair->state_width : 0;
  return fusion ? std::max(fusion->linear.in, state) : state;
}

std::size_t ModelSpec::feature_width() const {
  return pair && pair->next_state ? pair->next_state->out : taps.size() * width;
}

bool ModelSpec::reads_target_cache() const {
  return std::ranges::any_of(layers, [](const LayerSpec& layer) {
    return layer.attention() != nullptr && layer.attention()->kv_of_target;
  });
}

std::size_t cols_of(const ModelSpec& spec, Buffer buffer) {
  switch (buffer) {
    case Buffer::stream:
    case Buffer::normed:
    case Buffer::branch:
      return spec.width;
    case Buffer::layer_inputs:
      return spec.embed.by_layer ? spec.layers.size() * spec.embed.by_layer->dim : 0;
    case Buffer::features:
      return spec.input_width();
    case Buffer::pair:
      return spec.pair ? spec.pair->token_width + spec.pair->state_width : 0;
    default:
      break;
  }
  std::size_t cols = 0;
  for (const LayerSpec& layer : spec.layers) {
    cols = std::max(cols,
                    std::visit([buffer](const auto& mixer) { return cols_of(mixer, buffer); }, layer.mixer));
    const bool is_inner = buffer == Buffer::gate || buffer == Buffer::up;
    if (layer.ffn && is_inner) cols = std::max(cols, layer.ffn->width);
    if (layer.input && buffer == Buffer::gate) cols = std::max(cols, layer.input->gate.out);
    if (layer.ffn && layer.experts && buffer == Buffer::beside) cols = spec.width;
    for (const auto& convolution : {layer.mixer_convolution, layer.ffn_convolution})
      if (convolution && buffer == Buffer::factors) cols = std::max(cols, convolution->factors.out);
  }
  return cols;
}

std::vector<Feature> all_features() {
  std::vector<Feature> all;
  for (int i = 0; i <= static_cast<int>(Feature::shortlist); ++i) all.push_back(static_cast<Feature>(i));
  return all;
}

Caps host_caps(std::string_view backend, std::vector<Feature> features) {
  Caps all{backend, {}, {}, std::move(features), true};
  for (const TensorFormat& format : tensor_formats()) all.formats.push_back(format.type);
  for (const KvTypeRule& keys : kv_type_rules) {
    for (const KvTypeRule& values : kv_type_rules) all.kv_types.push_back({keys.type, values.type});
  }
  return all;
}

void Ops::tap(Buffer, std::size_t, std::size_t) {
  SPECTR_CHECK(false);
}
void Ops::load_features() {
  SPECTR_CHECK(false);
}
void Ops::join(const PairSpec&, const EmbedSpec&, Buffer) {
  SPECTR_CHECK(false);
}
void Ops::store_keys(std::size_t) {
  SPECTR_CHECK(false);
}
void Ops::convolve(const BlockConvolutionSpec&, std::size_t, Buffer) {
  SPECTR_CHECK(false);
}

Result<void> check(const ModelSpec& spec, const KvTypes& kv, const Caps& caps) {
  for (const Requirement& requirement : spec.requirements) {
    if (has(caps.features, requirement.feature)) continue;
    return error(ErrorCode::unsupported, "{}: {}: {} are not supported by the backend {}", spec.file,
                 requirement.source, name_of(requirement.feature), caps.backend);
  }
  // Check the fields, too: an architecture's file may have stated no requirement for them.
  for (const Feature feature : features_of(spec)) {
    if (has(caps.features, feature)) continue;
    return error(ErrorCode::unsupported,
                 "{}: general.architecture is {}: {} are not supported by the backend {}", spec.file,
                 spec.architecture, name_of(feature), caps.backend);
  }
  for (const WeightSpec& weight : spec.weights) {
    if (weight.is_vector || has(caps.formats, weight.type)) continue;
    return error(ErrorCode::unsupported, "{}: tensor {} is {}; the backend {} has {}", spec.file, weight.name,
                 format_of(weight.type).name, caps.backend, names_of_all(caps.formats));
  }
  if (!has(caps.kv_types, kv)) {
    return error(ErrorCode::unsupported, "{}: keys as {} and values as {}: the backend {} has {}", spec.file,
                 name_of(kv.keys), name_of(kv.values), caps.backend, names_of_all(caps.kv_types));
  }
  return {};
}

}  // namespace spectr
