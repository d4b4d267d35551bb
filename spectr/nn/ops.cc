#include "spectr/nn/ops.h"

#include <algorithm>

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

/// What no operation of the graph computes, whatever a backend may have.
const std::vector<Feature> not_walked = {Feature::latent_attention,
                                         Feature::shared_keys,
                                         Feature::gated_attention,
                                         Feature::recurrent_mixer,
                                         Feature::short_convolution,
                                         Feature::expert_groups,
                                         Feature::expert_scales,
                                         Feature::blocks_beside_experts,
                                         Feature::layer_embeddings,
                                         Feature::output_scale,
                                         Feature::taps};

/// The features that a spec's fields need.
std::vector<Feature> features_of(const ModelSpec& spec) {
  std::vector<Feature> features;
  const auto need = [&features](bool needed, Feature feature) {
    if (needed) features.push_back(feature);
  };
  need(spec.embed.scale != 1.0f, Feature::embedding_scale);
  need(spec.embed.by_layer.has_value(), Feature::layer_embeddings);
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec& a = layer.attention;
    need(a.window > 0, Feature::sliding_window);
    need(a.score_cap > 0.0f, Feature::score_cap);
    need(a.sinks.has_value(), Feature::attention_sinks);
    need(a.temperature_scale != 0.0f, Feature::attention_temperature);
    need(a.gate.has_value(), Feature::gated_attention);
    need(a.latent.has_value(), Feature::latent_attention);
    need(a.kv_from.has_value(), Feature::shared_keys);
    need(a.normalizes_values, Feature::value_norms);
    need(a.norms_whole_vector, Feature::whole_vector_norms);
    need(a.rope.magnitude != 1.0f, Feature::rope_magnitude);
    need(layer.delta_net.has_value(), Feature::recurrent_mixer);
    need(layer.short_convolution.has_value(), Feature::short_convolution);
    const auto clamped = [](const DenseSpec& block) { return block.activation == Activation::clamped_silu; };
    need(layer.ffn && clamped(*layer.ffn), Feature::clamped_activation);
    if (layer.experts) {
      const ExpertsSpec& experts = *layer.experts;
      features.push_back(Feature::experts);
      need(std::ranges::any_of(experts.blocks, clamped), Feature::clamped_activation);
      need(experts.groups > 1, Feature::expert_groups);
      need(experts.scales.has_value(), Feature::expert_scales);
      need(experts.shared || experts.shared_gate || layer.ffn, Feature::blocks_beside_experts);
    }
    need(layer.residual_scale != 1.0f, Feature::residual_scale);
    need(layer.output_scale.has_value(), Feature::output_scale);
  }
  need(spec.head.cap > 0.0f, Feature::logit_cap);
  need(spec.head.scale != 1.0f, Feature::logit_scale);
  need(!spec.taps.empty(), Feature::taps);
  need(!spec.head.shortlist.empty(), Feature::shortlist);
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
    case Feature::blocks_beside_experts:
      return "blocks beside experts";
    case Feature::clamped_activation:
      return "clamped activations";
    case Feature::logit_cap:
      return "caps on logits";
    case Feature::embedding_scale:
      return "scaled embeddings";
    case Feature::layer_embeddings:
      return "embeddings for each layer";
    case Feature::residual_scale:
      return "scaled residuals";
    case Feature::output_scale:
      return "scaled layers";
    case Feature::logit_scale:
      return "scaled logits";
    case Feature::taps:
      return "taps for draft heads";
    case Feature::shortlist:
      return "logits of some tokens only";
  }
  return "";
}

std::size_t cols_of(const ModelSpec& spec, Buffer buffer) {
  std::size_t cols = 0;
  for (const LayerSpec& layer : spec.layers) {
    const AttentionSpec& a = layer.attention;
    switch (buffer) {
      case Buffer::stream:
      case Buffer::normed:
      case Buffer::branch:
        return spec.width;
      case Buffer::query:
      case Buffer::attended:
        cols = std::max(cols, a.heads * a.head_dim);
        break;
      case Buffer::key:
      case Buffer::value:
        cols = std::max(cols, a.kv_heads * a.head_dim);
        break;
      case Buffer::gate:
      case Buffer::up:
        if (layer.ffn) cols = std::max(cols, layer.ffn->width);
        break;
    }
  }
  return cols;
}

Caps host_caps(std::string_view backend, std::vector<Feature> features) {
  Caps all{backend, {}, {}, std::move(features), true};
  for (const TensorFormat& format : tensor_formats()) all.formats.push_back(format.type);
  for (const KvTypeRule& keys : kv_type_rules) {
    for (const KvTypeRule& values : kv_type_rules) all.kv_types.push_back({keys.type, values.type});
  }
  return all;
}

Result<void> check(const ModelSpec& spec, const KvTypes& kv, const Caps& caps) {
  for (const Requirement& requirement : spec.requirements) {
    if (has(caps.features, requirement.feature)) continue;
    return error("{}: {}: {} are not supported by the backend {}", spec.file, requirement.source,
                 name_of(requirement.feature), caps.backend);
  }
  // What the fields ask for, whether or not the architecture's file said where from.
  for (const Feature feature : features_of(spec)) {
    if (has(caps.features, feature) && !has(not_walked, feature)) continue;
    return error("{}: general.architecture is {}: {} are not supported by the backend {}", spec.file,
                 spec.architecture, name_of(feature), caps.backend);
  }
  for (const WeightSpec& weight : spec.weights) {
    if (weight.is_vector || has(caps.formats, weight.type)) continue;
    return error("{}: tensor {} is {}; the backend {} has {}", spec.file, weight.name,
                 format_of(weight.type).name, caps.backend, names_of_all(caps.formats));
  }
  if (!has(caps.kv_types, kv)) {
    return error("{}: keys as {} and values as {}: the backend {} has {}", spec.file, name_of(kv.keys),
                 name_of(kv.values), caps.backend, names_of_all(caps.kv_types));
  }
  return {};
}

}  // namespace spectr
