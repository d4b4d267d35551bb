// Embeddings and rankings. References: tests/data/encoders/make.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "spectr/engine/embeddings/embedding.h"
#include "spectr/engine/engine.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using testing::HasSubstr;
using ReferenceJson = nlohmann::json;
using Vectors = std::vector<std::vector<float>>;

std::filesystem::path in_encoders(const std::string& name) {
  return source_folder() / "tests/data/encoders" / name;
}

EngineModels encoder_models(const std::string& name) {
  return EngineModels::load({.target = in_encoders(name + ".gguf"), .threads = 2}).value();
}

ReferenceJson reference_of(const std::string& name) {
  return ReferenceJson::parse(std::ifstream(in_encoders(name + ".json")));
}

double distance_between(std::span<const float> a, std::span<const double> b) {
  double difference = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

class Embeddings : public testing::Test {
 protected:
  Vectors embedded(const EmbeddingOptions& options) const {
    const auto vectors = embed(*models_.target, tokens_, options);
    EXPECT_TRUE(vectors) << vectors.error().message;
    return *vectors;
  }
  std::vector<double> row(std::size_t i) const { return states_[i].get<std::vector<double>>(); }

  const EngineModels models_ = encoder_models("bert-f32");
  const ReferenceJson one_ = reference_of("bert-f32")["cases"][0];
  const std::vector<Token> tokens_ = one_["tokens"].get<std::vector<Token>>();
  const ReferenceJson states_ = one_["states"];
};

TEST_F(Embeddings, OfTextsBeginWithTheReferencesTokens) {
  EXPECT_EQ(models_.tokenizer->encode(one_["text"].get<std::string>(), {.add_eos = true}), tokens_);
}

TEST_F(Embeddings, PoolStatesAsAsked) {
  std::vector<double> mean(row(0).size());
  for (std::size_t i = 0; i < tokens_.size(); ++i)
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += row(i)[j] / static_cast<double>(tokens_.size());
  constexpr int as_they_are = -1;
  EXPECT_LE(distance_between(embedded({Pooling::mean, as_they_are}).front(), mean), 1e-5);
  EXPECT_LE(distance_between(embedded({Pooling::cls, as_they_are}).front(), row(0)), 1e-5);
  EXPECT_LE(distance_between(embedded({Pooling::last, as_they_are}).front(), row(tokens_.size() - 1)), 1e-5);
  const Vectors all = embedded({Pooling::none});
  ASSERT_EQ(all.size(), tokens_.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_LE(distance_between(all[i], row(i)), 1e-5);
  EXPECT_EQ(embedded({}), embedded({Pooling::mean, 2})) << "as the file says";
}

TEST_F(Embeddings, AreDividedByTheNormThatIsAskedFor) {
  const auto norm_of = [](const std::vector<float>& vector, double p) {
    double sum = 0.0;
    for (const float number : vector) sum += std::pow(std::abs(static_cast<double>(number)), p);
    return std::pow(sum, 1.0 / p);
  };
  EXPECT_NEAR(norm_of(embedded({}).front(), 2), 1.0, 1e-6);
  EXPECT_NEAR(norm_of(embedded({.norm = 1}).front(), 1), 1.0, 1e-6);
  EXPECT_NEAR(norm_of(embedded({.norm = 3}).front(), 3), 1.0, 1e-6);
  float largest = 0;
  const Vectors by_largest = embedded({.norm = 0});
  for (const float number : by_largest.front()) largest = std::max(largest, std::abs(number));
  EXPECT_NEAR(largest, 32760.0F, 0.01F);
  std::vector<float> zeros(4);
  normalize(zeros, 2);
  EXPECT_EQ(zeros, std::vector<float>(4));
}

TEST_F(Embeddings, ByRankNeedAClassifier) {
  const auto refused = embed(*models_.target, tokens_, {Pooling::rank});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("bert-f32.gguf: pooling by rank needs a classifier"));
  const auto ranks = check_ranks(models_.target->spec());
  EXPECT_THAT(ranks.error().message, HasSubstr("bert-f32.gguf: reranking needs a classifier"));
}

TEST_F(Embeddings, AreAllThatAnEncoderGives) {
  const auto engine = Engine::load({.models = {.target = in_encoders("bert-f32.gguf")}}).value();
  const auto refused = engine->prepare({.prompts = {tokens_}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message,
              HasSubstr("general.architecture is bert: an encoder gives embeddings"));
}

TEST(Rankings, HaveTheScoresOfTheReference) {
  const EngineModels models = encoder_models("reranker-f32");
  const ReferenceJson json = reference_of("reranker-f32");
  ASSERT_TRUE(check_ranks(models.target->spec()));
  for (const ReferenceJson& one : json["pairs"]) {
    const TextPair pair =
        join(*models.tokenizer, json["query"].get<std::string>(), one["document"].get<std::string>());
    EXPECT_EQ(pair.tokens, one["tokens"].get<std::vector<Token>>());
    EXPECT_EQ(pair.second, one["second"].get<std::size_t>());
    const auto score = relevance(*models.target, pair);
    ASSERT_TRUE(score) << score.error().message;
    EXPECT_NEAR(*score, one["score"].get<double>(), 1e-5);
    const auto of_one_segment = relevance(*models.target, {pair.tokens, pair.tokens.size()});
    EXPECT_GT(std::abs(*of_one_segment - one["score"].get<double>()), 1e-3) << "segments count";
  }
}

TEST(Rankings, AreTheEmbeddingsOfARerankerByDefault) {
  const EngineModels models = encoder_models("reranker-f32");
  const TextPair pair = join(*models.tokenizer, "cat", "dog");
  const auto scores = embed(*models.target, pair.tokens).value();
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores.front(),
            (std::vector{relevance(*models.target, {pair.tokens, pair.tokens.size()}).value()}));
}

TEST(EmbeddingsOfDecoders, AreTheLastStateUnlessSomethingElseIsAsked) {
  const auto models = EngineModels::load({.target = find_data("models/spectr-stories-7m-q8_0.gguf").value(),
                                          .threads = 2,
                                          .load = {.embeds = true}})
                          .value();
  const auto tokens = models.tokenizer->encode("Once upon a time");
  const auto last = embed(*models.target, tokens).value();
  EXPECT_EQ(last, embed(*models.target, tokens, {Pooling::last}).value());
  EXPECT_NE(last, embed(*models.target, tokens, {Pooling::mean}).value());
  auto longer = tokens;
  longer.push_back(tokens.back());
  EXPECT_NE(last, embed(*models.target, longer).value());
}

}  // namespace
}  // namespace spectr
