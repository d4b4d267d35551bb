#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spectr/nn/model_spec.h"

namespace spectr {

/// The weights of a part of a model: the kept weights of the whole model, with their new indices.
class PartWeights {
 public:
  explicit PartWeights(const ModelSpec& whole) : whole_(whole) {}

  /// Returns the weight's index among the kept ones; keeps each weight once.
  WeightId place_of(WeightSpec weight) {
    std::vector<WeightId>& of_tensor = places_[weight.name];
    for (const WeightId id : of_tensor) {
      if (weights_[id] == weight) return id;
    }
    of_tensor.push_back(static_cast<WeightId>(weights_.size()));
    weights_.push_back(std::move(weight));
    return of_tensor.back();
  }

  // Each overload keeps all weights that its argument refers to, and updates their indices.
  void keep(WeightId& id) { id = place_of(whole_.weight(id)); }
  template <class T>
  void keep(std::optional<T>& one) {
    if (one) keep(*one);
  }
  template <class T>
  void keep(std::vector<T>& all) {
    for (T& one : all) keep(one);
  }
  void keep(NormSpec& norm) { keep_all(norm.weight, norm.bias); }
  void keep(LinearSpec& linear) { keep_all(linear.weight, linear.bias); }
  void keep(DenseSpec& block) { keep_all(block.gate, block.up, block.down); }
  void keep(ExpertsSpec& experts) {
    keep_all(experts.router, experts.router_norm, experts.blocks, experts.selection_bias, experts.scales);
  }
  void keep(LatentSpec& latent) {
    keep_all(latent.q_down, latent.q_norm, latent.norm, latent.keys_up, latent.values_up);
  }
  void keep(AttentionSpec& a) {
    keep_all(a.q_norm, a.k_norm, a.q, a.out, a.sinks, a.gate, a.latent);
    if (!a.kv_from) keep(a.k);
    if (!a.kv_from && !a.latent) keep(a.v);
  }
  void keep(DeltaNetSpec& delta) {
    keep_all(delta.qkv, delta.z, delta.beta, delta.alpha, delta.out, delta.convolution, delta.a,
             delta.dt_bias, delta.norm);
  }
  void keep(ShortConvolutionSpec& convolution) {
    keep_all(convolution.in, convolution.out, convolution.weight);
  }
  void keep(LayerSpec& layer) {
    keep_norms(layer);
    std::visit([this](auto& mixer) { keep(mixer); }, layer.mixer);
    keep_all(layer.ffn, layer.experts, layer.ffn_gate);
  }
  /// Keeps the layer's own norms, around its blocks.
  void keep_norms(LayerSpec& layer) {
    keep_all(layer.mixer_norm, layer.ffn_norm, layer.mixer_post_norm, layer.ffn_post_norm, layer.experts_norm,
             layer.dense_post_norm, layer.experts_post_norm);
  }

  std::vector<WeightSpec> take() { return std::move(weights_); }

 private:
  template <class... Parts>
  void keep_all(Parts&... parts) {
    (keep(parts), ...);
  }

  const ModelSpec& whole_;
  std::vector<WeightSpec> weights_;
  std::map<std::string, std::vector<WeightId>> places_;  // by tensor name
};

}  // namespace spectr
