#include "spectr/model/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/support/gguf_writer.h"

namespace spectr {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Result<ModelConfig> load(const GgufWriter& writer, const std::string& name = "test.gguf") {
  const auto bytes = writer.bytes();
  const auto file = Gguf::parse(bytes, name);
  if (!file) return std::unexpected(file.error());
  return ModelConfig::load(*file);
}

ModelConfig config_of(const GgufWriter& writer) {
  const auto config = load(writer);
  EXPECT_TRUE(config) << config.error().message;
  return config.value();
}

void expect_error(const GgufWriter& writer, const std::string& reason,
                  const std::string& name = "test.gguf") {
  const auto config = load(writer, name);
  ASSERT_FALSE(config) << "was accepted; expected: " << reason;
  EXPECT_THAT(config.error().message, StartsWith(name + ": "));
  EXPECT_THAT(config.error().message, HasSubstr(reason));
}

GgufWriter tiny_gpt2() {
  return tiny_model("gpt2");
}
GgufWriter tiny_gptneox() {
  return tiny_model("gptneox");
}

TEST(ModelConfig, ReadsALlama) {
  const ModelConfig config = config_of(tiny_llama());
  EXPECT_EQ(config.architecture, Architecture::llama);
  EXPECT_EQ(config.name, "tiny");
  EXPECT_EQ(config.vocabulary, 4);
  EXPECT_EQ(config.context, 64);
  EXPECT_EQ(config.width, 8);
  EXPECT_EQ(config.layers, 1);
  EXPECT_EQ(config.heads, 2);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_EQ(config.head_dim, 4);
  EXPECT_EQ(config.ffn, 16);
  EXPECT_EQ(config.norm_epsilon, 1e-5F);
  EXPECT_EQ(config.rope_dims, 4);
  EXPECT_EQ(config.rope_base, 10000);
  EXPECT_EQ(config.rope_scale, 1);
  EXPECT_TRUE(config.rope_interleaved);
}

TEST(ModelConfig, KnowsHowEachArchitectureRotates) {
  EXPECT_FALSE(config_of(tiny_model("qwen2")).rope_interleaved);
  EXPECT_EQ(config_of(tiny_model("qwen2")).rope_dims, 4);
  EXPECT_FALSE(config_of(tiny_model("qwen3")).rope_interleaved);
  EXPECT_EQ(config_of(tiny_model("qwen3").set("qwen3.attention.key_length", 6U)).rope_dims, 6);
  EXPECT_EQ(config_of(tiny_gpt2()).rope_dims, 0);
  EXPECT_FALSE(config_of(tiny_gptneox()).rope_interleaved);
  EXPECT_EQ(config_of(tiny_gptneox().set("gptneox.rope.dimension_count", 2U)).rope_dims, 2);
}

TEST(ModelConfig, ReadsTheParallelResidualOfGptneox) {
  EXPECT_TRUE(config_of(tiny_gptneox()).parallel_residual);
  EXPECT_FALSE(config_of(tiny_gptneox().set("gptneox.use_parallel_residual", false)).parallel_residual);
}

TEST(ModelConfig, ReadsWhatMayBeLeftOut) {
  const ModelConfig config = config_of(tiny_llama()
                                           .set("llama.attention.head_count_kv", 1U)
                                           .set("llama.attention.key_length", 6U)
                                           .set("llama.attention.value_length", 6U)
                                           .set("llama.rope.dimension_count", 2U)
                                           .set("llama.rope.freq_base", 500000.0F));
  EXPECT_EQ(config.kv_heads, 1);
  EXPECT_EQ(config.head_dim, 6);
  EXPECT_EQ(config.rope_dims, 2);
  EXPECT_EQ(config.rope_base, 500000);
}

TEST(ModelConfig, TakesTheFilesNameWhereTheModelHasNone) {
  EXPECT_EQ(load(tiny_llama().remove("general.name"), "folder/some-model.gguf")->name, "some-model");
}

TEST(ModelConfig, AnArrayStandsForItsValueIfAllLayersAgree) {
  const auto with = [](const std::vector<std::int32_t>& heads) {
    return tiny_llama().set("llama.block_count", 3U).set("llama.attention.head_count_kv", heads);
  };
  EXPECT_EQ(config_of(with({1, 1, 1})).kv_heads, 1);
  expect_error(with({2, 1, 2}), "llama.attention.head_count_kv is 2 in layer 0 and 1 in layer 1");
  expect_error(with({1, 1}), "llama.attention.head_count_kv has 2 values for 3 layers");
  expect_error(with({}), "has 0 values for 3 layers");
  expect_error(with({-1, -1, -1}), "is -1, but must not be negative");
}

TEST(ModelConfig, ReadsLinearRopeScalingOldAndNew) {
  EXPECT_EQ(config_of(tiny_llama().set("llama.rope.scale_linear", 4.0F)).rope_scale, 4);
  EXPECT_EQ(config_of(tiny_llama().set("llama.rope.scaling.factor", 2.0F)).rope_scale, 2);
  GgufWriter file =
      tiny_llama().set("llama.rope.scaling.type", "linear").set("llama.rope.scaling.factor", 2.5F);
  EXPECT_EQ(config_of(file).rope_scale, 2.5);
  EXPECT_EQ(config_of(file.set("llama.rope.scaling.type", "none")).rope_scale, 1);
  EXPECT_EQ(config_of(tiny_llama().set("llama.rope.scaling.factor", 0.0F)).rope_scale, 1) << "0: none";
}

TEST(ModelConfig, RefusesOtherRopeScalingsByName) {
  for (const std::string type : {"yarn", "longrope", "dynamic\n"}) {
    expect_error(tiny_llama().set("llama.rope.scaling.type", type),
                 fmt::format("llama.rope.scaling.type is \"{}", type.substr(0, 4)));
  }
}

TEST(ModelConfig, RefusesUnknownArchitecturesByName) {
  expect_error(tiny_llama().set("general.architecture", "mamba"), "general.architecture is \"mamba\"");
  expect_error(tiny_llama().set("general.architecture", ""), "general.architecture is \"\"");
  expect_error(tiny_llama().set("general.architecture", 7U), "general.architecture is an integer");
}

TEST(ModelConfig, RefusesSplitFiles) {
  expect_error(tiny_llama().set("split.count", std::uint16_t{3}), "is one of 3 parts");
  expect_error(tiny_llama(), "is one of 15 parts by its name", "folder/model-00002-of-00015.gguf");
  EXPECT_TRUE(load(tiny_llama().set("split.count", std::uint16_t{1}), "model-00001-of-00001.gguf"));
  EXPECT_TRUE(load(tiny_llama(), "model-0001-of-00015.gguf"));
  EXPECT_TRUE(load(tiny_llama(), "-00002-of-00015.ggu"));
}

TEST(ModelConfig, RefusesVariantsThatWouldChangeTheComputation) {
  expect_error(tiny_llama().set("llama.expert_count", 8U), "llama.expert_count is 8: mixtures of experts");
  expect_error(tiny_llama().set("llama.attention.sliding_window", 16U), "sliding windows are not supported");
  expect_error(tiny_llama().set("llama.attention.causal", false), "llama.attention.causal is false");
  EXPECT_TRUE(load(tiny_llama().set("llama.expert_count", 0U).set("llama.attention.sliding_window", 64U)));
}

TEST(ModelConfig, RefusesScalesAndCapsOtherThanTheNeutralOnes) {
  struct Key {
    std::string name;
    float neutral, other;
  };
  for (const auto& [name, neutral, other] :
       {Key{"attention.clamp_kqv", 0, 8}, Key{"attention.max_alibi_bias", 0, 8},
        Key{"attention.scale", 0.5F, 0.25F},  // 1/√4 is what heads of four dimensions have anyway
        Key{"attention.output_scale", 1, 2}, Key{"attention.temperature_scale", 0, 0.1F},
        Key{"attn_logit_softcapping", 0, 50}, Key{"final_logit_softcapping", 0, 30},
        Key{"embedding_scale", 1, 12}, Key{"residual_scale", 1, 0.22F}, Key{"logit_scale", 1, 0.0625F},
        Key{"rope.scaling.attn_factor", 1, 1.19F}, Key{"rope.scaling.yarn_attn_factor", 1, 1.19F},
        Key{"rope.scaling.yarn_ext_factor", 0, 1}, Key{"rope.scaling.yarn_log_multiplier", 0, 0.1F}}) {
    const std::string key = "llama." + name;
    EXPECT_TRUE(load(tiny_llama().set(key, neutral))) << key;
    expect_error(tiny_llama().set(key, other), fmt::format("{} is ", key));
    expect_error(tiny_llama().set(key, std::numeric_limits<float>::quiet_NaN()), key + " is nan");
  }
}

// CVE-2025-0312: metadata that every model has is missing.
TEST(ModelConfig, AMissingKeyIsNamed) {
  for (const std::string key : {"general.architecture", "llama.context_length", "llama.embedding_length",
                                "llama.block_count", "llama.feed_forward_length",
                                "llama.attention.head_count", "llama.attention.layer_norm_rms_epsilon"}) {
    expect_error(tiny_llama().remove(key), key + " is missing");
  }
}

// ggml-org/llama.cpp#25821: a table of 512 layers overflows. CVE-2024-8063: block_count 0.
TEST(ModelConfig, TheBlockCountIsFrom1To512) {
  EXPECT_EQ(config_of(tiny_llama().set("llama.block_count", 512U)).layers, 512);
  for (const std::uint32_t count : {0U, 513U, 1U << 31, ~0U}) {
    expect_error(tiny_llama().set("llama.block_count", count),
                 fmt::format("llama.block_count is {}, but must be from 1 to 512", count));
  }
  expect_error(tiny_llama().set("llama.block_count", -1),
               "llama.block_count is -1, but must not be negative");
}

TEST(ModelConfig, EverySizeIsBounded) {
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

TEST(ModelConfig, EveryRealNumberIsWithinBounds) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::string name :
       {"attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.scaling.factor"}) {
    for (const float value : {0.0F, -1.0F, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
      if (value == 0.0F && name == "rope.scaling.factor") continue;  // is none
      expect_error(tiny_llama().set("llama." + name, value), fmt::format("llama.{} is {}, but", name, value));
    }
    for (const double tiny : {1e-300, 1e-45})  // of which one over it is no float
      expect_error(tiny_llama().set("llama." + name, tiny), "but must be from 1");
    expect_error(tiny_llama().set("llama." + name, "1"), fmt::format("llama.{} is a string", name));
  }
}

TEST(ModelConfig, HeadsFitTogether) {
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

TEST(ModelConfig, TheTokenEmbeddingGivesTheVocabulary) {
  const auto with = [](const WrittenTensor& tensor) {
    GgufWriter file = tiny_llama();
    file.remove("tokenizer.ggml.tokens").without_tensors().tensor(tensor);
    return file;
  };
  EXPECT_EQ(config_of(with({.name = "token_embd.weight", .shape = {8, 7}})).vocabulary, 7);
  expect_error(with({.name = "other", .shape = {8, 7}}), "tensor token_embd.weight is missing");
  expect_error(with({.name = "token_embd.weight", .shape = {4, 8}}),
               "tensor token_embd.weight has the shape 4 x 8 x 1 x 1, but must be 8 x vocabulary");
  expect_error(with({.name = "token_embd.weight", .shape = {8, 2, 2}}), "has the shape 8 x 2 x 2 x 1");
}

TEST(ModelConfig, TheTokenEmbeddingHasARowForEveryToken) {
  const auto with_rows = [](std::uint64_t rows) {
    GgufWriter file = tiny_llama();
    file.without_tensors().tensor({.name = "token_embd.weight", .shape = {8, rows}});
    return file;
  };
  EXPECT_EQ(config_of(with_rows(4)).vocabulary, 4);
  expect_error(with_rows(5), "tensor token_embd.weight has 5 rows for the 4 tokens of tokenizer.ggml.tokens");
  expect_error(with_rows(3), "has 3 rows for the 4 tokens");
  expect_error(with_rows(4).set("tokenizer.ggml.tokens", 4U), "tokenizer.ggml.tokens is an integer");
}

TEST(ModelConfig, TheNameFitsIntoALine) {
  EXPECT_EQ(config_of(tiny_llama().set("general.name", "a\n\x1b]0;title\a")).name, R"(a\n\x1b]0;title\x07)");
  EXPECT_LE(config_of(tiny_llama().set("general.name", std::string(100'000, 'x'))).name.size(), 100U);
  EXPECT_EQ(load(tiny_llama(), "folder/file.gguf")->file, "folder/file.gguf");
}

}  // namespace
}  // namespace spectr
