// Encoders: every token attends to the whole text. References: tests/data/encoders/make.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "spectr/backend/cpu/cpu_backend.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/nn/transformer.h"
#include "tests/nn/read_spec.h"
#include "tests/support/data.h"

namespace spectr {
namespace {

using EncoderJson = nlohmann::json;
using testing::HasSubstr;

std::filesystem::path encoder_file(const std::string& name) {
  return source_folder() / "tests/data/encoders" / name;
}

ThreadPool& encoder_pool() {
  static ThreadPool pool(2);
  return pool;
}

std::unique_ptr<Transformer> encoder_of(const std::string& name,
                                        std::shared_ptr<const Backend> backend = nullptr,
                                        const LoadSettings& settings = {}) {
  if (!backend) backend = std::make_shared<CpuBackend>(encoder_pool());
  auto model =
      Transformer::load(Gguf::open(encoder_file(name + ".gguf")).value(), std::move(backend), settings);
  EXPECT_TRUE(model) << model.error().message;
  return std::move(*model);
}

double distance_of_states(const std::vector<float>& found, const EncoderJson& expected) {
  double difference = 0.0, norm = 0.0;
  std::size_t at = 0;
  for (const EncoderJson& row : expected) {
    for (const EncoderJson& number : row) {
      const double value = number.get<double>(), off = static_cast<double>(found.at(at++)) - value;
      difference += off * off;
      norm += value * value;
    }
  }
  EXPECT_EQ(at, found.size());
  return std::sqrt(difference / norm);
}

class EncoderReferences : public testing::TestWithParam<std::string> {
 protected:
  const EncoderJson json_ = EncoderJson::parse(std::ifstream(encoder_file(GetParam() + ".json")));

  double worst_distance(const Transformer& model) const {
    double worst = 0.0;
    for (const EncoderJson& one : json_["cases"]) {
      const auto states = model.embed(one["tokens"].get<std::vector<Token>>());
      EXPECT_TRUE(states) << states.error().message;
      worst = std::max(worst, distance_of_states(*states, one["states"]));
    }
    return worst;
  }
};

TEST_P(EncoderReferences, AgreeOnTheProcessor) {
  EXPECT_LE(worst_distance(*encoder_of(GetParam())), 1e-5);
}

TEST_P(EncoderReferences, AgreeOnTheReferenceBackend) {
  using Precision = ReferenceBackend::Precision;
  EXPECT_LE(worst_distance(*encoder_of(GetParam(), std::make_shared<ReferenceBackend>(Precision::f64))),
            1e-6);
  EXPECT_LE(worst_distance(*encoder_of(GetParam(), std::make_shared<ReferenceBackend>(Precision::f32))),
            1e-5);
}

TEST_P(EncoderReferences, AreLostWhereTokensSeeOnlyThoseBeforeThem) {
  const auto model = encoder_of(GetParam());
  const EncoderJson& one = json_["cases"][0];
  auto tokens = one["tokens"].get<std::vector<Token>>();
  tokens.back() = tokens.front();  // the last token influences the first
  const auto states = model->embed(tokens).value();
  const std::size_t width = model->spec().width;
  EXPECT_GT(distance_of_states({states.begin(), states.begin() + static_cast<std::ptrdiff_t>(width)},
                               EncoderJson::array({one["states"][0]})),
            1e-3);
}

TEST_P(EncoderReferences, DoNotDependOnWhatWasComputedBefore) {
  const auto model = encoder_of(GetParam());
  const auto first = json_["cases"][0]["tokens"].get<std::vector<Token>>();
  const auto second = json_["cases"][1]["tokens"].get<std::vector<Token>>();
  const auto alone = model->embed(first).value();
  ASSERT_TRUE(model->embed(second));
  EXPECT_EQ(model->embed(first).value(), alone) << "bit for bit";
}

INSTANTIATE_TEST_SUITE_P(Encoders, EncoderReferences, testing::Values("bert-f32", "nomic-bert-f32"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Encoders, ReadTheirFilesAsData) {
  const auto bert = encoder_of("bert-f32"), nomic = encoder_of("nomic-bert-f32");
  EXPECT_TRUE(bert->spec().bidirectional);
  EXPECT_EQ(bert->spec().pooling, Pooling::mean);
  EXPECT_EQ(nomic->spec().pooling, Pooling::cls);
  EXPECT_NEAR(nomic->spec().layers[0].attention()->rope.frequencies[1], std::pow(1000.0, -0.25), 1e-6);
  EXPECT_FALSE(nomic->spec().embed.positions);
  EXPECT_FALSE(bert->spec().classifier);
  const auto reranker = encoder_of("reranker-f32");
  EXPECT_EQ(reranker->spec().pooling, Pooling::rank);
  EXPECT_EQ(reranker->spec().classifier->output.size(), 32U);
}

TEST(Encoders, GenerateNothingAndSaySo) {
  const auto model = encoder_of("bert-f32");
  const auto session = model->start(16, 1).value();
  const std::vector<Token> text = {2, 123, 3};
  const auto scored = session->score(text, TokenTree(text.back()));
  ASSERT_FALSE(scored);
  EXPECT_EQ(scored.error().code, ErrorCode::unsupported);
  EXPECT_THAT(scored.error().message, HasSubstr("bert-f32.gguf: general.architecture is bert: an encoder"));
}

TEST(Encoders, RefuseTextsThatTheyCannotTake) {
  const auto model = encoder_of("bert-f32");
  EXPECT_THAT(model->embed({}).error().message, HasSubstr("without tokens"));
  const auto longer = model->embed(std::vector<Token>(65, 5));
  EXPECT_EQ(longer.error().code, ErrorCode::context_full);
  EXPECT_THAT(longer.error().message, HasSubstr("has 65 tokens and is too large for the context of 64"));
  EXPECT_TRUE(model->embed(std::vector<Token>(64, 5)));
  EXPECT_THAT(model->embed(std::vector<Token>{2, 9999}).error().message, HasSubstr("token 9999 is outside"));
}

TEST(Encoders, OfTextsThatAreLongerThanAPassOfAPromptAgreeOnBothBackends) {
  constexpr std::size_t length = 200;
  static_assert(length > KvSlots::text_rows);
  auto cpu = encoder_of("nomic-bert-f32"),
       reference =
           encoder_of("nomic-bert-f32", std::make_shared<ReferenceBackend>(ReferenceBackend::Precision::f64));
  ASSERT_TRUE(cpu->extend_context(length));
  ASSERT_TRUE(reference->extend_context(length));
  std::vector<Token> text(length);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<Token>(5 + (37 * i) % 150);
  const auto found = cpu->embed(text).value(), expected = reference->embed(text).value();
  double worst = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::abs(found[i] - expected[i])));
  EXPECT_LE(worst, 1e-4);
}

TEST(Encoders, OfAFileThatIsCausalOrPoolsInAnUnknownWayAreRefused) {
  for (const std::string name : {"bert", "nomic-bert"}) {
    const auto with = [&](std::string_view key, auto value) {
      return with_tensors(tiny_model(name).set(name + "." + std::string(key), value), tiny_tensors(name));
    };
    expect_error(with("attention.causal", true), name + ".attention.causal is true, but models of this");
    expect_error(with("pooling_type", 5U), name + ".pooling_type is 5, but 0 to 4 are supported");
  }
  expect_error(with_tensors(tiny_model("bert").set("bert.classifier.output_labels",
                                                   std::vector<std::string>{"a", "b"}),
                            [] {
                              auto tensors = tiny_tensors("bert");
                              tensors.push_back({.name = "cls.output.weight", .shape = {8, 1}});
                              return tensors;
                            }()),
               "tensor cls.output.weight has 1 rows for the 2 names");
}

TEST(Decoders, GiveTheStatesThatTheirLogitsAreMadeOf) {
  const LoadSettings embeds{.kv = {KvType::f32, KvType::f32}, .embeds = true};
  auto file = Gguf::open(*find_data("models/stories260K-f32.gguf")).value();
  const char* const head = file.tensor("output.weight") ? "output.weight" : "token_embd.weight";
  std::vector<float> matrix(file.tensor(head)->rows() * file.tensor(head)->cols());
  std::memcpy(matrix.data(), file.tensor(head)->bytes.data(), matrix.size() * sizeof(float));
  const auto model =
      Transformer::load(std::move(file), std::make_shared<CpuBackend>(encoder_pool()), embeds).value();
  std::vector<Token> text(100);  // two passes
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<Token>(3 + (53 * i) % 500);
  const auto states = model->embed(text).value();
  const std::size_t width = model->spec().width;
  ASSERT_EQ(states.size(), text.size() * width);
  for (const std::size_t length : {10U, 100U}) {
    const auto session = model->start(128, 1).value();
    const auto prompt = std::span(text).first(length);
    ASSERT_TRUE(session->score(prompt, TokenTree(prompt.back())));
    const Logits logits = session->logits(TokenTree::root);
    for (Token token = 0; token < 512; token += 37) {
      double sum = 0.0;
      for (std::size_t j = 0; j < width; ++j)
        sum += static_cast<double>(matrix[static_cast<std::size_t>(token) * width + j]) *
               static_cast<double>(states[(length - 1) * width + j]);
      EXPECT_NEAR(logits.at(token), sum, 1e-3);
    }
  }
}

TEST(Decoders, ThatWereNotLoadedForItGiveNoEmbeddings) {
  const auto model = Transformer::load(Gguf::open(*find_data("models/stories260K-f32.gguf")).value(),
                                       std::make_shared<CpuBackend>(encoder_pool()))
                         .value();
  const auto states = model->embed(std::vector<Token>{1, 2});
  EXPECT_EQ(states.error().code, ErrorCode::unsupported);
  EXPECT_THAT(states.error().message,
              HasSubstr("stories260K-f32.gguf: the model was loaded without embeddings"));
}

TEST(Decoders, HandOutEitherStatesForADrafterOrEmbeddings) {
  const auto both = Transformer::load(
      Gguf::open(*find_data("models/stories260K-f32.gguf")).value(),
      std::make_shared<CpuBackend>(encoder_pool()),
      {.taps = {.taps = {TapSpec{.layer = 1}}, .source = "drafter.gguf: eagle3.target_layers"},
       .embeds = true});
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message,
              HasSubstr("either states for a drafter (drafter.gguf: eagle3.target_layers)"));
}

}  // namespace
}  // namespace spectr
