// Log-probabilities of prompts, alone and together with completions.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "spectr/decode/score_sequence.h"
#include "spectr/engine/engine.h"
#include "spectr/sampling/likelihood.h"
#include "tests/engine/bundled.h"

namespace spectr {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Engine> scoring_engine(std::optional<std::size_t> max_nodes) {
  const SlotOptions slots{.slots = 2, .queue = 8, .max_nodes = max_nodes};
  return Engine::start(test::bundled_models(), {.slots = slots}).value();
}

Request scored_request(std::string_view prompt, std::string_view method = "spectr") {
  Request request;
  request.prompts = {test::bundled_models()->tokenizer->encode(prompt)};
  request.method.method = method;
  request.limit = 4;
  request.details = 3;
  request.score_prompt = true;
  return request;
}

struct ScoredText {
  std::vector<PromptScore> prompt;
  std::string text;
  CompletionResult result;
};

ScoredText run_scored(Engine& engine, Request request) {
  const auto completion = engine.submit(engine.prepare(std::move(request)).value());
  ScoredText all;
  while (const auto news = completion->next(60s)) {
    const CompletionEvent& event = news->second;
    EXPECT_TRUE(event.delta.prompt.empty() || all.text.empty()) << "the prompt comes first";
    all.prompt.insert(all.prompt.end(), event.delta.prompt.begin(), event.delta.prompt.end());
    all.text += event.delta.text;
    if (event.result) all.result = *event.result;
  }
  EXPECT_EQ(all.result.failure.message, "");
  return all;
}

constexpr std::string_view scored_tale =
    "Tom had a red ball. He liked to play with it in the park. One day he saw a dog that wanted to play with "
    "the ball too. The dog ran after it, and Tom ran after the dog until they were both very tired.";

TEST(PromptScores, AreTheTargetsLogProbabilities) {
  const std::vector<Token> tokens = test::bundled_models()->tokenizer->encode(scored_tale);
  const auto session = test::bundled_models()->target->start(tokens.size(), 1).value();
  std::vector<double> expected;
  std::vector<Token> likeliest_tokens;
  ASSERT_TRUE(score_sequence(*session, tokens, 1, [&](std::size_t i, const Logits& logits) {
    expected.push_back(-negative_log_likelihood(logits, tokens[i]));
    likeliest_tokens.push_back(likeliest(logits, 1).front().token);
  }));
  for (const std::optional<std::size_t> max_nodes :
       {std::optional<std::size_t>(65), std::optional<std::size_t>()}) {
    const auto engine = scoring_engine(max_nodes);
    for (const std::string_view method : {"spectr", "plain"}) {
      const ScoredText told = run_scored(*engine, scored_request(scored_tale, method));
      ASSERT_EQ(told.prompt.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(told.prompt[i].log_probability, expected[i]) << i;
        ASSERT_EQ(told.prompt[i].alternatives.size(), 3u);
        EXPECT_EQ(told.prompt[i].alternatives[0].token, likeliest_tokens[i]) << i;
      }
    }
  }
}

TEST(PromptScores, ChangeNoTextAndLeaveThePromptToOthers) {
  const auto engine = scoring_engine(65);
  Request plain = scored_request(scored_tale);
  plain.score_prompt = false;
  const ScoredText first = run_scored(*engine, plain),
                   with = run_scored(*engine, scored_request(scored_tale)),
                   after = run_scored(*engine, plain);
  EXPECT_EQ(first.text, with.text);
  EXPECT_EQ(first.text, after.text);
  EXPECT_TRUE(first.prompt.empty());
  EXPECT_EQ(with.result.cached, 0u) << "logits of remembered tokens are not kept";
  EXPECT_EQ(with.result.computed, plain.prompts[0].size());
  EXPECT_EQ(after.result.cached, plain.prompts[0].size() - 1);
}

TEST(PromptScores, OfSeveralCompletionsAreThoseOfEach) {
  const auto engine = scoring_engine(65);
  Request twice = scored_request(scored_tale);
  twice.n = 2;
  const auto completion = engine->submit(engine->prepare(std::move(twice)).value());
  std::size_t scores[2] = {};
  while (const auto news = completion->next(60s)) scores[news->first] += news->second.delta.prompt.size();
  const std::size_t expected = scored_request(scored_tale).prompts[0].size() - 1;
  EXPECT_EQ(scores[0], expected);
  EXPECT_EQ(scores[1], expected);
}

TEST(PromptScores, ComeWithoutAText) {
  const auto engine = scoring_engine(65);
  Request none = scored_request(scored_tale);
  none.limit = 0;
  const ScoredText told = run_scored(*engine, none);
  EXPECT_EQ(told.prompt.size(), none.prompts[0].size() - 1);
  EXPECT_EQ(told.text, "");
  EXPECT_EQ(told.result.reason, FinishReason::limit);
}

TEST(PromptScores, AreNotWaitedForOnceTheCompletionIsCancelled) {
  const auto engine = scoring_engine(65);
  const auto completion = engine->submit(engine->prepare(scored_request(scored_tale)).value());
  completion->cancel();
  ASSERT_TRUE(completion->wait(60s));
  const auto result = completion->take(0).result;
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->reason == FinishReason::cancelled || result->reason == FinishReason::not_started);
}

}  // namespace
}  // namespace spectr
