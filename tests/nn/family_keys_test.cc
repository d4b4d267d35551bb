// Metadata keys that are specific to one family.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/nn/read_spec.h"

namespace spectr {
namespace {

TEST(FamilyKeys, RefusesExpertsWhereAFamilyHasNone) {
  expect_error(tiny_model("qwen3").set("qwen3.expert_count", 8U), "qwen3.expert_count is 8, which is not");
}

TEST(FamilyKeys, ReadsExperts) {
  const auto experts = [](const GgufWriter& metadata) {
    return *spec_of("qwen3moe", metadata).layers[0].experts;
  };
  const GgufWriter plain = tiny_model("qwen3moe");
  EXPECT_EQ(experts(plain).blocks.size(), 4);
  EXPECT_EQ(experts(plain).used, 2);
  EXPECT_EQ(experts(plain).gating, ExpertsSpec::Gating::softmax);
  EXPECT_TRUE(experts(plain).normalized);
  EXPECT_EQ(experts(plain).blocks[3].down.in, 16);
  EXPECT_FALSE(spec_of("qwen3moe", plain).layers[0].ffn);
  const auto with = [](std::string_view key, auto value) {
    return tiny_model("qwen3moe").set(fmt::format("qwen3moe.{}", key), value);
  };
  EXPECT_FALSE(experts(with("expert_weights_norm", false)).normalized);
  EXPECT_EQ(experts(with("expert_weights_scale", 2.5F)).weights_scale, 2.5F);
  EXPECT_EQ(experts(with("expert_weights_scale", 0.0F)).weights_scale, 1.0F) << "none";
  EXPECT_EQ(experts(with("expert_gating_func", 2U)).gating, ExpertsSpec::Gating::sigmoid);
  EXPECT_EQ(experts(with("expert_gating_func", 3U)).gating, ExpertsSpec::Gating::softmax_of_chosen);
  expect_error(with("expert_gating_func", 4U), "qwen3moe.expert_gating_func is 4, but must be from 1 to 3");
  expect_error(with("expert_count", 0U), "qwen3moe.expert_count is 0, but must be from 1 to 4096");
  expect_error(with("expert_used_count", 5U), "qwen3moe.expert_used_count is 5, but must be from 1 to 4");
  expect_error(with("expert_used_count", 0U), "qwen3moe.expert_used_count is 0, but must be from 1 to 4");
  expect_error(with("expert_feed_forward_length", 0U), "qwen3moe.expert_feed_forward_length is 0, but");
  expect_error(with_tensors(with("expert_shared_count", 1U), tiny_tensors("qwen3moe")),
               "tensor blk.0.ffn_gate_shexp.weight is missing");
  expect_error(with("expert_group_count", 3U), "qwen3moe.expert_group_count is 3 and");
  expect_error(with("expert_group_count", 5U), "qwen3moe.expert_group_count is 5, but must be from 1 to 4");
  expect_error(with("leading_dense_block_count", 2U), "leading_dense_block_count is 2, but must be from 1");
  expect_error(GgufWriter(plain).remove("qwen3moe.expert_used_count"), "expert_used_count is missing");
}

/// Returns the windows of a Gemma model's layers.
std::vector<std::size_t> windows_of(const ModelSpec& spec) {
  std::vector<std::size_t> windows;
  for (const LayerSpec& layer : spec.layers) windows.push_back(layer.attention()->window);
  return windows;
}

TEST(FamilyKeys, ReadsWhichLayersHaveAWindow) {
  const auto gemma = [](const std::string& name, std::uint32_t layers) {
    return tiny_model(name).set(name + ".block_count", layers).set(name + ".attention.sliding_window", 9U);
  };
  const auto windows = [](const std::string& name, std::size_t layers, const GgufWriter& metadata) {
    return windows_of(spec_of(name, metadata, {.layers = layers}));
  };
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(windows("gemma3", 7, gemma("gemma3", 7)), (Sizes{9, 9, 9, 9, 9, 0, 9}));
  EXPECT_EQ(windows("gemma2", 3, gemma("gemma2", 3)), (Sizes{9, 0, 9}));
  const std::string pattern = "gemma3.attention.sliding_window_pattern";
  EXPECT_EQ(windows("gemma3", 3, gemma("gemma3", 3).set(pattern, 2U)), (Sizes{9, 0, 9}));
  EXPECT_EQ(windows("gemma3", 3, gemma("gemma3", 3).set(pattern, std::vector<bool>{false, true, false})),
            (Sizes{0, 9, 0}));
  expect_error(with_tensors(gemma("gemma3", 3).set(pattern, std::vector<bool>{false, true}),
                            tiny_tensors("gemma3", {.layers = 3})),
               pattern + " has 2 values for 3 layers");
  expect_error(gemma("gemma3", 3).set(pattern, 0U), pattern + " is 0, but must be from 1 to 512");
  expect_error(gemma("gemma3", 3).set(pattern, std::vector<std::uint32_t>{1, 0, 1}), pattern + " is");
  expect_error(gemma("gemma3", 3).set("gemma3.attention.sliding_window", 0U), "sliding_window is 0, but");
  // A window that equals the context or is absent means none. For gemma2 the default is 4096.
  EXPECT_EQ(windows("gemma3", 1, tiny_model("gemma3").set("gemma3.attention.sliding_window", 64U)), Sizes{0});
  EXPECT_EQ(windows("gemma3", 1, tiny_model("gemma3")), Sizes{0});
  EXPECT_EQ(windows("gemma2", 1, tiny_model("gemma2").set("gemma2.context_length", 8192U)), Sizes{4096});
  // Training texts shorter than the window do not need it, but the context must then be limited to it.
  EXPECT_EQ(spec_of("gemma2", tiny_model("gemma2")).max_context, 4096u);
}

TEST(FamilyKeys, ReadsWhatIsGemmasOwn) {
  const ModelSpec second = spec_of("gemma2", tiny_model("gemma2"));
  EXPECT_EQ(second.embed.scale, std::sqrt(8.0F));
  EXPECT_EQ(second.head.cap, 30.0F);
  EXPECT_EQ(second.layers[0].attention()->score_cap, 50.0F);
  EXPECT_EQ(second.layers[0].ffn->activation, Activation::gelu_tanh);
  EXPECT_TRUE(second.layers[0].mixer_norm && second.layers[0].mixer_post_norm);
  EXPECT_TRUE(second.layers[0].ffn_norm && second.layers[0].ffn_post_norm);
  EXPECT_FALSE(second.layers[0].attention()->q_norm);
  const ModelSpec third = spec_of("gemma3",
                                  tiny_model("gemma3")
                                      .set("gemma3.attention.sliding_window", 9U)
                                      .set("gemma3.attention.sliding_window_pattern", 2U)
                                      .set("gemma3.block_count", 2U)
                                      .set("gemma3.rope.freq_base", 1e6F)
                                      .set("gemma3.rope.scaling.type", "linear")
                                      .set("gemma3.rope.scaling.factor", 8.0F),
                                  {.layers = 2});
  EXPECT_EQ(third.head.cap, 0.0F);
  EXPECT_EQ(third.layers[0].attention()->score_cap, 0.0F);
  EXPECT_TRUE(third.layers[0].attention()->q_norm);
  EXPECT_EQ(third.layers[0].attention()->rope.frequencies, (std::vector<float>{1.0F, 0.01F}));
  EXPECT_EQ(third.layers[1].attention()->rope.frequencies, (std::vector<float>{0.125F, 0.001F / 8}));
  // Models with 27 billion parameters are recognized by their number of layers.
  const auto scale = [](const std::string& name, std::uint32_t layers) {
    const GgufWriter metadata = tiny_model(name)
                                    .set(name + ".block_count", layers)
                                    .set(name + ".attention.key_length", 16U)
                                    .set(name + ".attention.value_length", 16U);
    return spec_of(name, metadata, {.layers = layers, .head_dim = 16}).layers.back().attention()->scale;
  };
  EXPECT_EQ(scale("gemma2", 2), 0.25F);
  EXPECT_EQ(scale("gemma2", 46), 0.5F);
  EXPECT_EQ(scale("gemma3", 46), 0.25F);
  EXPECT_EQ(scale("gemma3", 62), 0.5F);
}

// Keys for modalities other than text are ignored, and keys of some members of a family are optional.
TEST(FamilyKeys, OfPicturesAreIgnored) {
  const std::vector<std::int32_t> sections = {2, 0, 0, 0};
  constexpr const char* all_keys_read = "tensor ";
  expect_error(tiny_model("glm4moe").set("glm4moe.rope.dimension_sections", sections), all_keys_read);
  spec_of("granite", tiny_model("granite").set("granite.deepstack_mapping", std::vector<std::int32_t>{-1}));
  expect_error(tiny_model("qwen35").set("qwen35.n_deepstack_layers", 3U), all_keys_read);
}

TEST(FamilyKeys, AWidthOfExpertsThatAreNotThereIsIgnored) {
  const ModelSpec spec =
      spec_of("granite", tiny_model("granite").set("granite.expert_shared_feed_forward_length", 16U));
  EXPECT_FALSE(spec.layers[0].experts);
}

TEST(FamilyKeys, ReadsTheWindowOfAllOfLfm2sAttention) {
  const auto lfm2 = [] {
    return tiny_model("lfm2")
        .set("lfm2.attention.head_count_kv", std::vector<std::int32_t>{2})
        .set("lfm2.attention.sliding_window", 9U);
  };
  EXPECT_EQ(windows_of(spec_of("lfm2", lfm2())), std::vector<std::size_t>{9});
  EXPECT_EQ(windows_of(spec_of("lfm2", lfm2().set("lfm2.attention.sliding_window", 0U))),
            std::vector<std::size_t>{0});
}

TEST(FamilyKeys, ReadsTheTemperatureOfLatentAttention) {
  const auto deepseek = [](float scale) {
    return tiny_model("deepseek2").set("deepseek2.attention.temperature_scale", scale);
  };
  const std::string_view length = "deepseek2.attention.temperature_length";
  const auto temperature =
      spec_of("deepseek2", deepseek(0.1F).set(length, 32U)).layers[0].attention()->temperature;
  ASSERT_TRUE(temperature);
  EXPECT_EQ(temperature->scale, 0.1F);
  EXPECT_EQ(temperature->period, 32);
  EXPECT_FALSE(spec_of("deepseek2", deepseek(0).set(length, 32U)).layers[0].attention()->temperature);
  expect_error(deepseek(0.1F),
               "deepseek2.attention.temperature_scale is 0.1, but deepseek2.attention."
               "temperature_length is missing");
}

TEST(FamilyKeys, OlderLatentAttentionHasASizeForAllHeads) {
  const GgufWriter old = tiny_model("deepseek2")
                             .remove("deepseek2.attention.key_length_mla")
                             .remove("deepseek2.attention.value_length_mla")
                             .tensor({.name = "blk.0.attn_kv_b.weight", .shape = {4, 14}});
  expect_error(old, "deepseek2.attention.head_count_kv is 1: such latent attention has 2");
}

}  // namespace
}  // namespace spectr
