// A model with features that a backend lacks is refused at load, by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "spectr/nn/arch/architectures.h"
#include "spectr/nn/ops.h"
#include "tests/support/models/tiny_tensors.h"

namespace spectr {
namespace {

using testing::HasSubstr;

ModelSpec spec_of(const GgufWriter& metadata, const std::string& architecture = "llama") {
  const auto bytes = with_tensors(metadata, tiny_tensors(architecture)).bytes();
  return read_model_spec(Gguf::parse(bytes, "test.gguf").value()).value();
}

TEST(Caps, WhatABackendLacksIsNamedWithItsSource) {
  const Caps all{"toy",
                 {TensorType::f32},
                 {{KvType::f32, KvType::f32}},
                 {Feature::sliding_window, Feature::embedding_scale},
                 true};
  const ModelSpec window =
      spec_of(tiny_model("gemma3").set("gemma3.attention.sliding_window", 16U), "gemma3");
  const KvTypes f32{KvType::f32, KvType::f32}, f16{KvType::f16, KvType::f16};
  EXPECT_TRUE(check(window, f32, all));
  Caps fewer = all;
  fewer.features = {};
  EXPECT_EQ(check(window, f32, fewer).error().message,
            "test.gguf: gemma3.attention.sliding_window is 16: sliding windows are not supported by the "
            "backend toy");
  fewer.features = {Feature::sliding_window};
  ModelSpec scaled = spec_of(tiny_llama());
  scaled.embed.scale = 2;  // as if an architecture's file had omitted its key
  EXPECT_EQ(
      check(scaled, f32, fewer).error().message,
      "test.gguf: general.architecture is llama: scaled embeddings are not supported by the backend toy");
  fewer = all;
  fewer.formats = {TensorType::q8_0};
  EXPECT_EQ(check(window, f32, fewer).error().message,
            "test.gguf: tensor token_embd.weight is F32; the backend toy has Q8_0");
  EXPECT_EQ(check(window, f16, all).error().message,
            "test.gguf: keys as f16 and values as f16: the backend toy has f32 and f32");
}

// Any feature that a backend lacks is refused by name, and so is any feature that no graph supports yet.
TEST(Caps, EveryFieldThatIsNotNeutralIsRefusedWhereItIsLacked) {
  using Change = void (*)(ModelSpec&);
  static const auto of = [](ModelSpec& spec) -> AttentionSpec& { return *spec.layers.back().attention(); };
  const std::pair<Feature, Change> changes[] = {
      {Feature::sliding_window, [](ModelSpec& s) { of(s).window = 8; }},
      {Feature::score_cap, [](ModelSpec& s) { of(s).score_cap = 50; }},
      {Feature::attention_sinks, [](ModelSpec& s) { of(s).sinks = 0; }},
      {Feature::attention_temperature, [](ModelSpec& s) { of(s).temperature.emplace(0.1F, 64); }},
      {Feature::gated_attention, [](ModelSpec& s) { of(s).gate = of(s).q; }},
      {Feature::latent_attention, [](ModelSpec& s) { of(s).latent.emplace(); }},
      {Feature::shared_keys, [](ModelSpec& s) { of(s).kv_from = 0; }},
      {Feature::value_norms, [](ModelSpec& s) { of(s).value_epsilon = 1e-6F; }},
      {Feature::whole_vector_norms, [](ModelSpec& s) { of(s).norms_whole_vector = true; }},
      {Feature::rope_magnitude, [](ModelSpec& s) { of(s).rope.magnitude = 1.2F; }},
      {Feature::rope_by_context, [](ModelSpec& s) { of(s).rope.long_frequencies = {1}; }},
      {Feature::stream_norms, [](ModelSpec& s) { s.layers.back().norms_stream = true; }},
      {Feature::recurrent_mixer, [](ModelSpec& s) { s.layers.back().mixer.emplace<DeltaNetSpec>(); }},
      {Feature::short_convolution,
       [](ModelSpec& s) { s.layers.back().mixer.emplace<ShortConvolutionSpec>(); }},
      {Feature::experts, [](ModelSpec& s) { s.layers.back().experts.emplace(); }},
      {Feature::expert_groups, [](ModelSpec& s) { s.layers.back().experts.emplace().groups = 2; }},
      {Feature::expert_scales, [](ModelSpec& s) { s.layers.back().experts.emplace().scales = 0; }},
      {Feature::router_norms, [](ModelSpec& s) { s.layers.back().experts.emplace().router_norm.emplace(); }},
      {Feature::blocks_beside_experts, [](ModelSpec& s) { s.layers.back().experts.emplace(); }},
      {Feature::clamped_activation,
       [](ModelSpec& s) { s.layers.back().ffn->activation = Activation::clamped_silu; }},
      {Feature::relu, [](ModelSpec& s) { s.layers.back().ffn->activation = Activation::relu; }},
      {Feature::exact_gelu, [](ModelSpec& s) { s.layers.back().ffn->activation = Activation::gelu; }},
      {Feature::logit_cap, [](ModelSpec& s) { s.head.cap = 30; }},
      {Feature::embedding_scale, [](ModelSpec& s) { s.embed.scale = 2; }},
      {Feature::layer_embeddings, [](ModelSpec& s) { s.embed.by_layer.emplace(); }},
      {Feature::segment_embeddings, [](ModelSpec& s) { s.embed.segments = 0; }},
      {Feature::residual_scale, [](ModelSpec& s) { s.layers.back().residual_scale = 0.2F; }},
      {Feature::output_scale, [](ModelSpec& s) { s.layers.back().output_scale = 0.5F; }},
      {Feature::logit_scale, [](ModelSpec& s) { s.head.scale = 0.5F; }},
      {Feature::forbidden_tokens, [](ModelSpec& s) { s.head.forbidden = {1}; }},
      {Feature::head_without_norm, [](ModelSpec& s) { s.head.norm.reset(); }},
      {Feature::drafter_inputs, [](ModelSpec& s) { s.pair.emplace(); }},
      {Feature::block_convolutions, [](ModelSpec& s) { s.layers.back().ffn_convolution.emplace(); }},
      {Feature::taps, [](ModelSpec& s) { s.taps.push_back({0}); }}};
  const KvTypes f32{KvType::f32, KvType::f32};
  ASSERT_TRUE(check(spec_of(tiny_llama()), f32, host_caps("toy")));
  EXPECT_EQ(std::size(changes), static_cast<std::size_t>(Feature::taps) + 1) << "all of them";
  for (const auto& [feature, change] : changes) {
    ModelSpec spec = spec_of(tiny_llama());
    change(spec);
    std::vector<Feature> others;
    for (const auto& [other, _] : changes) {
      if (other != feature) others.push_back(other);
    }
    const auto refused = check(spec, f32, host_caps("toy", others));
    ASSERT_FALSE(refused) << name_of(feature);
    EXPECT_THAT(refused.error().message,
                HasSubstr(std::string(name_of(feature)) + " are not supported by the backend toy"));
  }
}

}  // namespace
}  // namespace spectr
