#include "apps/bench/passes/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "apps/bench/prompts.h"
#include "spectr/backend/reference/reference_backend.h"
#include "spectr/engine/loaded_model.h"
#include "spectr/gguf/gguf.h"
#include "tests/support/data.h"

namespace spectr::bench {
namespace {

TEST(Divergence, IsThatOfTheTwoDistributions) {
  const std::vector<float> even = {1.0f, 1.0f};
  const std::vector<double> uneven = {std::log(3.0), 0.0};
  const Divergence d = divergence(Logits(std::span(even)), Logits(std::span(uneven)));
  EXPECT_NEAR(d.kl, 0.75 * std::log(1.5) + 0.25 * std::log(0.5), 1e-12);
  EXPECT_NEAR(d.tv, 0.25, 1e-12);
  EXPECT_TRUE(d.same_top) << "of equal ones the first counts";
  const std::vector<float> other = {0.0f, 1.0f};
  EXPECT_FALSE(divergence(Logits(std::span(other)), Logits(std::span(uneven))).same_top);
}

TEST(Divergence, IsInfiniteWhereAPossibleTokenIsRuledOut) {
  const std::vector<float> one = {0.0f, -HUGE_VALF}, two = {0.0f, 0.0f};
  EXPECT_EQ(divergence(Logits(std::span(one)), Logits(std::span(two))).kl, HUGE_VAL);
  EXPECT_NEAR(divergence(Logits(std::span(two)), Logits(std::span(one))).kl, std::log(2.0), 1e-12);
}

/// Returns the mean divergence of a quantized model on the CPU from the same weights computed in double
/// precision, after the first turns of `count` stories.
Json loss_of(const std::string& name, std::size_t count) {
  const auto file = find_data("models/" + name).value();
  ThreadPool pool(2);
  const LoadedModel model = load_model(file, pool).value();
  const auto exact =
      Transformer::load(Gguf::open(file).value(), std::make_shared<ReferenceBackend>(), {}).value();
  std::vector<std::vector<Token>> contexts;
  const auto prompts = read_prompts(find_data("data/stories.jsonl").value(), count).value();
  for (const Prompt& prompt : prompts) contexts.push_back(model.tokenizer->encode(prompt.turns.front(), {}));
  const Json rows = measure_divergence(*model.transformer, *exact, contexts, [](std::size_t) {}).value();
  EXPECT_EQ(rows.back()["contexts"], count);
  return rows.back();
}

// With one activation scale per 64 columns instead of 32, the divergence is 1.5e-4.
TEST(Divergence, OfRoundedActivationsIsSmall) {
  const Json loss = loss_of("spectr-stories-draft-0.6m-q8_0.gguf", 100);
  EXPECT_LT(loss["kl"], 1.2e-4);
  EXPECT_LT(loss["tv"], 5.7e-3);
  EXPECT_GE(loss["same_top"], 0.98);
}

TEST(Divergence, IsNoneOfAModelFromItself) {
  ThreadPool pool(1);
  const LoadedModel model = load_model(find_data("models/stories260K-f32.gguf").value(), pool).value();
  const std::vector<std::vector<Token>> contexts = {{1, 5, 7}, std::vector<Token>(100, 9)};
  const Json rows =
      measure_divergence(*model.transformer, *model.transformer, contexts, [](std::size_t) {}).value();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["tokens_to"], 32);
  EXPECT_EQ(rows[1]["tokens_from"], 65);
  for (const Json& row : rows) {
    EXPECT_EQ(row["kl"], 0.0);
    EXPECT_EQ(row["tv"], 0.0);
    EXPECT_EQ(row["same_top"], 1.0);
  }
}

TEST(Divergence, NeedsOneVocabularyAndTokens) {
  ThreadPool pool(1);
  const LoadedModel one = load_model(find_data("models/stories260K-f32.gguf").value(), pool).value(),
                    two = load_model(find_data("models/spectr-stories-draft-0.6m-q8_0.gguf").value(), pool)
                              .value();
  const std::vector<std::vector<Token>> contexts = {{1}, {}};
  const auto other = measure_divergence(*one.transformer, *two.transformer, contexts, [](std::size_t) {});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("512 tokens and"), std::string::npos) << other.error().message;
  const auto empty = measure_divergence(*one.transformer, *one.transformer, contexts, [](std::size_t) {});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "context 2 has no tokens");
}

}  // namespace
}  // namespace spectr::bench
