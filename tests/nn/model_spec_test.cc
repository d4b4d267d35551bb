#include "spectr/nn/model_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "spectr/nn/arch/architectures.h"
#include "tests/nn/read_spec.h"

namespace spectr {
namespace {

ModelSpec llama_of(const GgufWriter& metadata, const TinyShape& shape = {}) {
  return spec_of("llama", metadata, shape);
}

bool is_accepted(const GgufWriter& metadata, const std::string& name = "test.gguf") {
  return load(with_tensors(metadata, tiny_tensors("llama")), name).has_value();
}

GgufWriter tiny_gpt2() {
  return tiny_model("gpt2");
}
GgufWriter tiny_gptneox() {
  return tiny_model("gptneox");
}

TEST(ModelSpec, ReadsALlama) {
  const ModelSpec spec = llama_of(tiny_llama());
  EXPECT_EQ(spec.architecture, "llama");
  EXPECT_EQ(spec.name, "tiny");
  EXPECT_EQ(spec.vocabulary, 4);
  EXPECT_EQ(spec.context, 64);
  EXPECT_EQ(spec.width, 8);
  ASSERT_EQ(spec.layers.size(), 1);
  const AttentionSpec& attention = *spec.layers[0].attention();
  EXPECT_EQ(attention.heads, 2);
  EXPECT_EQ(attention.kv_heads, 2);
  EXPECT_EQ(attention.head_dim, 4);
  EXPECT_EQ(attention.scale, 0.5F);
  EXPECT_EQ(attention.rope.dims, 4);
  EXPECT_EQ(attention.rope.frequencies, (std::vector<float>{1.0F, 0.01F}));
  EXPECT_TRUE(attention.rope.interleaved);
  EXPECT_EQ(spec.layers[0].ffn->width, 16);
  EXPECT_EQ(spec.layers[0].ffn_norm->epsilon, 1e-5F);
  EXPECT_EQ(spec.head.output.weight, spec.embed.tokens) << "tied";
  EXPECT_TRUE(spec.requirements.empty());
}

RopeSpec rope_of(const ModelSpec& spec) {
  return spec.layers.front().attention()->rope;
}

TEST(ModelSpec, KnowsHowEachArchitectureRotates) {
  EXPECT_FALSE(rope_of(spec_of("qwen2", tiny_model("qwen2"))).interleaved);
  EXPECT_EQ(rope_of(spec_of("qwen2", tiny_model("qwen2"))).dims, 4);
  EXPECT_FALSE(rope_of(spec_of("qwen3", tiny_model("qwen3"))).interleaved);
  EXPECT_EQ(rope_of(spec_of("qwen3",
                            tiny_model("qwen3")
                                .set("qwen3.attention.key_length", 6U)
                                .set("qwen3.attention.value_length", 6U),
                            {.head_dim = 6}))
                .dims,
            6);
  EXPECT_EQ(rope_of(spec_of("gpt2", tiny_gpt2())).dims, 0);
  EXPECT_FALSE(rope_of(spec_of("gptneox", tiny_gptneox())).interleaved);
  EXPECT_EQ(rope_of(spec_of("gptneox", tiny_gptneox().set("gptneox.rope.dimension_count", 2U))).dims, 2);
}

TEST(ModelSpec, ReadsTheParallelResidualOfGptneox) {
  EXPECT_TRUE(spec_of("gptneox", tiny_gptneox()).layers[0].parallel);
  EXPECT_FALSE(
      spec_of("gptneox", tiny_gptneox().set("gptneox.use_parallel_residual", false)).layers[0].parallel);
}

TEST(ModelSpec, ReadsWhatMayBeLeftOut) {
  const ModelSpec spec = llama_of(tiny_llama()
                                      .set("llama.attention.head_count_kv", 1U)
                                      .set("llama.attention.key_length", 6U)
                                      .set("llama.attention.value_length", 6U)
                                      .set("llama.rope.dimension_count", 2U)
                                      .set("llama.rope.freq_base", 500000.0F),
                                  {.kv_heads = 1, .head_dim = 6});
  const AttentionSpec& attention = *spec.layers[0].attention();
  EXPECT_EQ(attention.kv_heads, 1);
  EXPECT_EQ(attention.head_dim, 6);
  EXPECT_EQ(attention.rope.dims, 2);
  const ModelSpec four = llama_of(tiny_llama().set("llama.rope.freq_base", 490000.0F));
  EXPECT_EQ(rope_of(four).frequencies[1], 1.0F / 700.0F);
}

TEST(ModelSpec, TakesTheFilesNameWhereTheModelHasNone) {
  EXPECT_EQ(
      load(with_tensors(tiny_llama().remove("general.name"), tiny_tensors("llama")), "folder/some-model.gguf")
          ->name,
      "some-model");
}

TEST(ModelSpec, ReadsLayersThatDiffer) {
  const auto with = [](const std::vector<std::int32_t>& heads) {
    return tiny_llama().set("llama.block_count", 3U).set("llama.attention.head_count_kv", heads);
  };
  for (const LayerSpec& layer : llama_of(with({1, 1, 1}), {.layers = 3, .kv_heads = 1}).layers)
    EXPECT_EQ(layer.attention()->kv_heads, 1);
  std::vector<WrittenTensor> tensors = tiny_tensors("llama", {.layers = 3});
  for (WrittenTensor& tensor : tensors) {
    if (tensor.name == "blk.1.attn_k.weight" || tensor.name == "blk.1.attn_v.weight") tensor.shape = {8, 4};
  }
  const auto differ = load(with_tensors(with({2, 1, 2}), tensors));
  ASSERT_TRUE(differ) << differ.error().message;
  EXPECT_EQ(differ->layers[0].attention()->kv_heads, 2);
  EXPECT_EQ(differ->layers[1].attention()->kv_heads, 1);
  expect_error(with({1, 1}), "llama.attention.head_count_kv has 2 values for 3 layers");
  expect_error(with({}), "has 0 values for 3 layers");
  expect_error(with({2, -1, 2}), "llama.attention.head_count_kv is -1 in layer 1, but must be from 1 to");
}

TEST(ModelSpec, RefusesKeysThatItDoesNotKnow) {
  expect_error(tiny_llama().set("llama.some_scale", 2.0F),
               "llama.some_scale is 2: models of architecture llama are not known to have this key");
  expect_error(tiny_llama().set("llama.attention.some_list", std::vector<std::uint32_t>{1, 2}),
               "llama.attention.some_list is 2 x u32 [1, 2]: ");
  EXPECT_TRUE(is_accepted(tiny_llama().set("other.some_scale", 2.0F)));
  EXPECT_TRUE(is_accepted(tiny_llama().set("llama.vocab_size", 4U)));
  expect_error(tiny_gpt2().set("gpt2.rope.freq_base", 10000.0F), "gpt2.rope.freq_base is 10000");
  for (const Architecture& one : architectures()) {
    const std::string name(one.name);
    expect_error(with_tensors(tiny_model(name).set(name + ".new_thing", 1U), tiny_tensors(name)),
                 name + ".new_thing is 1");
  }
}

TEST(ModelSpec, ReadsLinearRopeScalingOldAndNew) {
  EXPECT_EQ(rope_of(llama_of(tiny_llama().set("llama.rope.scale_linear", 4.0F))).frequencies[0], 1.0F / 4.0F);
  EXPECT_EQ(rope_of(llama_of(tiny_llama().set("llama.rope.scaling.factor", 2.0F))).frequencies[0],
            1.0F / 2.0F);
  GgufWriter file =
      tiny_llama().set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 2.5F);
  EXPECT_EQ(rope_of(llama_of(file)).frequencies[0], 1.0F / 2.5F);
  EXPECT_EQ(rope_of(llama_of(file.set("llama.rope.scaling.type", "none"))).frequencies[0], 1.0F / 1.0F);
  EXPECT_EQ(rope_of(llama_of(tiny_llama().set("llama.rope.scaling.factor", 0.0F))).frequencies[0],
            1.0F / 1.0F)
      << "0: none";
}

TEST(ModelSpec, ReadsYarn) {
  const auto yarn = [] {
    return tiny_llama()
        .set("llama.rope.scaling.type", "yarn")
        .set("llama.rope.scaling.factor", 4.0F)
        .set("llama.rope.scaling.original_context_length", 16U)
        .set("llama.attention.key_length", 8U)
        .set("llama.attention.value_length", 8U);
  };
  // In the original context the first pair rotates 16 / 2π times, the second a tenth of that: between
  // beta_fast and beta_slow. The bounds are 8 ln(16 / 2πβ) / (2 ln 10000), rounded outwards: 0 and 1.
  const RopeSpec plain = rope_of(llama_of(yarn(), {.head_dim = 8}));
  EXPECT_EQ(plain.frequencies, (std::vector<float>{1.0F, 0.025F, 0.0025F, 0.00025F}));
  EXPECT_FLOAT_EQ(plain.magnitude, 0.1F * std::log(4.0F) + 1);
  const auto magnitude = [&](const GgufWriter& file) {
    return rope_of(llama_of(file, {.head_dim = 8})).magnitude;
  };
  EXPECT_EQ(magnitude(yarn().set("llama.rope.scaling.yarn_log_multiplier", 1.0F)), 1.0F);
  EXPECT_EQ(magnitude(yarn()
                          .set("llama.rope.scaling.yarn_log_multiplier", 1.0F)
                          .set("llama.rope.scaling.attn_factor", 1.5F)),
            1.5F);
  const RopeSpec unshared =
      rope_of(llama_of(yarn().set("llama.rope.scaling.yarn_ext_factor", 0.0F), {.head_dim = 8}));
  EXPECT_EQ(unshared.frequencies[0], 0.25F) << "linear";
  EXPECT_EQ(spec_of("llama", yarn(), {.head_dim = 8}).requirements.front().source,
            "llama.rope.scaling.type is \"yarn\"");
  const GgufWriter trained = yarn().set("llama.context_length", 16U);
  EXPECT_EQ(rope_of(llama_of(GgufWriter(trained).remove("llama.rope.scaling.original_context_length"),
                             {.head_dim = 8, .context = 16}))
                .frequencies,
            plain.frequencies)
      << "else the context of the training";
  expect_error(yarn().set("llama.rope.scaling.yarn_beta_fast", 0.0F), "yarn_beta_fast is 0, but must be");
}

TEST(ModelSpec, AChoiceGoesBeforeTheFilesKeys) {
  using Scaling = RopeChoice::Scaling;
  const auto chosen = [](const GgufWriter& metadata, const RopeChoice& choice) {
    const auto bytes = with_tensors(metadata, tiny_tensors("llama")).bytes();
    return rope_of(read_model_spec(Gguf::parse(bytes, "test.gguf").value(), choice).value());
  };
  const GgufWriter linear = tiny_llama().set("llama.rope.scaling.factor", 4.0F);
  EXPECT_EQ(chosen(linear, {}).frequencies[0], 0.25F);
  EXPECT_EQ(chosen(linear, {.factor = 2.0F}).frequencies[0], 0.5F);
  EXPECT_EQ(chosen(linear, {.scaling = Scaling::none}).frequencies[0], 1.0F);
  EXPECT_EQ(chosen(tiny_llama(), {.factor = 2.0F}).frequencies[0], 0.5F);
  EXPECT_EQ(chosen(tiny_llama(), {.base = 1e6F}).frequencies[1], 0.001F);
  EXPECT_EQ(chosen(tiny_llama(), {.attention_factor = 1.5F}).magnitude, 1.5F);
  const RopeChoice yarn{.scaling = Scaling::yarn, .factor = 4.0F, .original_context = 16, .share = 0.0F};
  EXPECT_EQ(chosen(tiny_llama(), yarn).frequencies[0], 0.25F);
  EXPECT_FLOAT_EQ(chosen(tiny_llama(), yarn).magnitude, 0.1F * std::log(4.0F) + 1);
}

TEST(ModelSpec, RefusesOtherRopeScalingsByName) {
  expect_error(tiny_llama().set("llama.rope.scaling.type", "dynamic\n"),
               "llama.rope.scaling.type is \"dynamic\\n\", but none, linear, yarn and longrope are");
}

TEST(ModelSpec, ReadsFactorsForShortAndLongContexts) {
  const GgufWriter metadata = tiny_llama()
                                  .set("llama.rope.scaling.original_context_length", 32U)
                                  .set("llama.rope.scaling.attn_factor", 1.25F);
  std::vector<WrittenTensor> tensors = tiny_tensors("llama");
  tensors.push_back({.name = "rope_factors_short.weight", .shape = {2}, .numbers = {1, 2}});
  tensors.push_back({.name = "rope_factors_long.weight", .shape = {2}, .numbers = {4, 8}});
  const RopeSpec rope = rope_of(load(with_tensors(metadata, tensors)).value());
  EXPECT_EQ(rope.frequencies, (std::vector<float>{1.0F, 0.005F}));
  EXPECT_EQ(rope.long_frequencies, (std::vector<float>{0.25F, 0.00125F}));
  EXPECT_EQ(rope.magnitude, 1.25F);
  EXPECT_EQ(&rope.frequencies_in(32), &rope.frequencies);
  EXPECT_EQ(&rope.frequencies_in(33), &rope.long_frequencies);
  expect_error(with_tensors(tiny_llama(), tensors), "llama.rope.scaling.original_context_length is missing");
  tensors.back().numbers = {1, 0};
  expect_error(with_tensors(metadata, tensors),
               "rope_factors_long.weight holds 0, but must hold numbers from");
}

TEST(ModelSpec, RefusesUnknownArchitecturesByName) {
  expect_error(tiny_llama().set("general.architecture", "mamba"), "general.architecture is \"mamba\"");
  expect_error(tiny_llama().set("general.architecture", ""), "general.architecture is \"\"");
  expect_error(tiny_llama().set("general.architecture", 7U), "general.architecture is an integer");
}

TEST(ModelSpec, RefusesSplitFiles) {
  expect_error(tiny_llama().set("split.count", std::uint16_t{3}), "is one of 3 parts");
  expect_error(tiny_llama(), "is one of 15 parts by its name", "folder/model-00002-of-00015.gguf");
  EXPECT_TRUE(is_accepted(tiny_llama().set("split.count", std::uint16_t{1}), "model-00001-of-00001.gguf"));
  EXPECT_TRUE(is_accepted(tiny_llama(), "model-0001-of-00015.gguf"));
  EXPECT_TRUE(is_accepted(tiny_llama(), "-00002-of-00015.ggu"));
}

TEST(ModelSpec, RefusesVariantsThatWouldChangeTheComputation) {
  expect_error(tiny_llama().set("llama.attention.causal", false), "llama.attention.causal is false");
  EXPECT_TRUE(is_accepted(tiny_llama().set("llama.expert_count", 0U)));
}

TEST(ModelSpec, SaysWhatABackendMustHave) {
  const ModelSpec spec = spec_of("gemma3", tiny_model("gemma3").set("gemma3.attention.sliding_window", 16U));
  ASSERT_EQ(spec.requirements.size(), 1);
  EXPECT_EQ(spec.requirements.front().feature, Feature::sliding_window);
  EXPECT_EQ(spec.requirements.front().source, "gemma3.attention.sliding_window is 16");
}

TEST(ModelSpec, NotesAWindowThatTheFamilyDoesNotApply) {
  const ModelSpec spec = llama_of(tiny_llama().set("llama.attention.sliding_window", 16U));
  EXPECT_EQ(spec.layers[0].attention()->window, 0);
  EXPECT_TRUE(spec.requirements.empty());
  EXPECT_EQ(spec.notes,
            std::vector<std::string>{"llama.attention.sliding_window is 16, which is not applied"});
  EXPECT_TRUE(llama_of(tiny_llama()).notes.empty());
  expect_error(tiny_model("granite").set("granite.attention.sliding_window", 16U),
               "granite.attention.sliding_window is 16, which is not supported");
}

TEST(ModelSpec, RefusesScalesAndCapsOtherThanTheNeutralOnes) {
  struct Key {
    std::string name;
    float neutral, other;
  };
  for (const auto& [name, neutral, other] :
       {Key{"attention.clamp_kqv", 0, 8}, Key{"attention.max_alibi_bias", 0, 8},
        Key{"attention.scale", 0.5F, 0.25F},  // 1/√4 is the default for heads of four dimensions
        Key{"attention.output_scale", 1, 2}, Key{"attention.temperature_scale", 0, 0.1F},
        Key{"attn_logit_softcapping", 0, 50}, Key{"final_logit_softcapping", 0, 30},
        Key{"embedding_scale", 1, 12}, Key{"residual_scale", 1, 0.22F}, Key{"logit_scale", 1, 0.0625F},
        Key{"rope.scaling.yarn_attn_factor", 1, 1.19F},  // without YaRN
        Key{"rope.scaling.yarn_ext_factor", 0, 1}, Key{"rope.scaling.yarn_log_multiplier", 0, 0.1F}}) {
    const std::string key = "llama." + name;
    EXPECT_TRUE(is_accepted(tiny_llama().set(key, neutral))) << key;
    expect_error(tiny_llama().set(key, other), fmt::format("{} is ", key));
    expect_error(tiny_llama().set(key, std::numeric_limits<float>::quiet_NaN()), key + " is nan");
  }
}

// CVE-2025-0312: metadata that every model has is missing.
TEST(ModelSpec, AMissingKeyIsNamed) {
  for (const std::string key : {"general.architecture", "llama.context_length", "llama.embedding_length",
                                "llama.block_count", "llama.feed_forward_length",
                                "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"}) {
    expect_error(tiny_llama().remove(key), key + " is missing");
  }
}

// ggml-org/llama.cpp#25821: a table of 512 layers overflows. CVE-2024-8063: block_count is 0.
TEST(ModelSpec, TheBlockCountIsFrom1To512) {
  EXPECT_EQ(llama_of(tiny_llama().set("llama.block_count", 512U), {.layers = 512}).layers.size(), 512);
  for (const std::uint32_t count : {0U, 513U, 1U << 31, ~0U}) {
    expect_error(tiny_llama().set("llama.block_count", count),
                 fmt::format("llama.block_count is {}, but must be from 1 to 512", count));
  }
  expect_error(tiny_llama().set("llama.block_count", -1),
               "llama.block_count is -1, but must not be negative");
}

TEST(ModelSpec, EverySizeIsBounded) {
  for (const std::string name : {"context_length", "embedding_length", "feed_forward_length",
                                 "attention.head_count", "attention.head_count_kv", "attention.key_length",
                                 "attention.value_length", "rope.dimension_count"}) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
      expect_error(tiny_llama().set("llama." + name, value),
                   fmt::format("llama.{} is {}, but must be from 1 to", name, value));
    }
    expect_error(tiny_llama().set("llama." + name, -8),
                 fmt::format("llama.{} is -8, but must not be negative", name));
    expect_error(tiny_llama().set("llama." + name, 8.0F), fmt::format("llama.{} is a real number", name));
  }
}

TEST(ModelSpec, EveryRealNumberIsWithinBounds) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::string name :
       {"attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.scaling.factor"}) {
    for (const float value : {0.0F, -1.0F, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
      if (value == 0.0F && name == "rope.scaling.factor") continue;  // means none
      expect_error(tiny_llama().set("llama." + name, value), fmt::format("llama.{} is {}, but", name, value));
    }
    for (const double tiny : {1e-300, 1e-45})  // their reciprocals overflow f32
      expect_error(tiny_llama().set("llama." + name, tiny), "but must be from 1");
    expect_error(tiny_llama().set("llama." + name, "1"), fmt::format("llama.{} is a string", name));
  }
}

TEST(ModelSpec, HeadsFitTogether) {
  expect_error(tiny_llama().set("llama.attention.head_count", 3U),
               "llama.embedding_length is 8, not a multiple of the 3 heads");
  expect_error(tiny_llama().set("llama.attention.head_count", 16U), "not a multiple of the 16 heads");
  expect_error(tiny_llama().set("llama.attention.head_count_kv", 4U),
               "is 4, which does not divide the 2 heads");
  expect_error(
      tiny_llama()
          .set("llama.attention.head_count", 4096U)
          .set("llama.attention.head_count_kv", 4096U)
          .set("llama.attention.key_length", 128U),
      "llama.attention.head_count is 4096: heads of 128 dimensions have 524288 in all, but 262144 is");
  expect_error(tiny_llama().set("llama.attention.value_length", 2U),
               "llama.attention.value_length is 2, but keys have 4");
  expect_error(tiny_llama().set("llama.rope.dimension_count", 3U),
               "llama.rope.dimension_count is 3, but must be even");
  expect_error(tiny_llama().set("llama.rope.dimension_count", 6U),
               "llama.rope.dimension_count is 6, but must be from 1 to 4");
  expect_error(tiny_gpt2().set("gpt2.attention.head_count_kv", 1U),
               "gpt2.attention.head_count is 2 and gpt2.attention.head_count_kv is 1, of 4 dimensions");
  expect_error(tiny_gptneox().set("gptneox.attention.key_length", 2U).set("gptneox.rope.dimension_count", 2U),
               "gptneox.attention.head_count_kv is 2, of 2 dimensions");
}

TEST(ModelSpec, TheTokenEmbeddingGivesTheVocabulary) {
  const auto with = [](const WrittenTensor& tensor) {
    GgufWriter file = tiny_llama();
    file.remove("tokenizer.ggml.tokens").without_tensors().tensor(tensor);
    return file;
  };
  EXPECT_EQ(llama_of(tiny_llama().remove("tokenizer.ggml.tokens"), {.vocabulary = 7}).vocabulary, 7);
  expect_error(with({.name = "other", .shape = {8, 7}}), "tensor token_embd.weight is missing");
  expect_error(with({.name = "token_embd.weight", .shape = {4, 8}}),
               "tensor token_embd.weight has the shape 4 x 8 x 1 x 1, but must be 8 x vocabulary");
  expect_error(with({.name = "token_embd.weight", .shape = {8, 2, 2}}), "has the shape 8 x 2 x 2 x 1");
}

TEST(ModelSpec, TheTokenEmbeddingHasARowForEveryToken) {
  const auto with_rows = [](std::uint64_t rows) {
    GgufWriter file = tiny_llama();
    file.without_tensors().tensor({.name = "token_embd.weight", .shape = {8, rows}});
    return file;
  };
  EXPECT_EQ(llama_of(tiny_llama()).vocabulary, 4);
  expect_error(with_rows(5), "tensor token_embd.weight has 5 rows for the 4 tokens of tokenizer.ggml.tokens");
  expect_error(with_rows(3), "has 3 rows for the 4 tokens");
  expect_error(with_rows(4).set("tokenizer.ggml.tokens", 4U), "tokenizer.ggml.tokens is an integer");
}

TEST(ModelSpec, TheNameFitsIntoALine) {
  EXPECT_EQ(llama_of(tiny_llama().set("general.name", "a\n\x1b]0;title\a")).name, R"(a\n\x1b]0;title\x07)");
  EXPECT_LE(llama_of(tiny_llama().set("general.name", std::string(100'000, 'x'))).name.size(), 100U);
  EXPECT_EQ(llama_of(tiny_llama()).file, "test.gguf");
}

}  // namespace
}  // namespace spectr
