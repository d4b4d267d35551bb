#include "apps/server/answers/report.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "apps/server/answers/format.h"
#include "tests/engine/bundled.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;
using Moment = std::chrono::steady_clock::time_point;

constexpr std::size_t prompt_tokens = 11;

/// Returns a request for `n` completions of each of several prompts.
PreparedRequest request_for(std::size_t prompts, std::size_t n = 1) {
  Request request;
  request.prompts.assign(prompts, std::vector<Token>(prompt_tokens, 1));
  request.n = n;
  request.limit = 100;
  request.seed = 1;
  return {std::move(request),
          {find_method("spectr").value(), {}, std::make_shared<const Warp>(Warp::make({}).value())},
          1000};
}

/// Returns a text of one block with `accepted` of four drafts: one second for the prompt, two for the tokens.
CompletionResult text(std::chrono::seconds begun, std::size_t cached, std::size_t accepted) {
  Block block;
  block.tokens.assign(accepted + 1, 7);
  block.sources.assign(accepted + 1, Source::draft);
  block.accepted = accepted;
  block.drafted = 4;
  block.negative_log_likelihoods.assign(accepted + 1, 1.0);
  CompletionResult result;
  result.reason = FinishReason::limit;
  result.begun = Moment(1h + begun);
  result.cached = cached;
  result.computed = prompt_tokens - cached;
  result.statistics.count(block, block.tokens.size());
  result.statistics.prompt_seconds = 1.0;
  result.statistics.total_seconds = 3.0;
  result.shape.length = accepted;
  return result;
}

TEST(Report, SettingsOfSpeculationAreThoseThatTheMethodReads) {
  const auto told = [](std::string_view name, MethodOptions settings) {
    return speculation_settings(*find_method(name).value(), settings);
  };
  EXPECT_EQ(told("plain", {}), (Json{{"method", "plain"}}));
  EXPECT_EQ(told("ngram", {.length = 6}),
            (Json{{"method", "ngram"}, {"ngram", 3}, {"drafts", 1}, {"length", 6}}));
  EXPECT_EQ(told("suffix", {.length = 6}),
            (Json{{"method", "suffix"}, {"suffix_reach", 0.1}, {"drafts", 1}, {"length", 6}}));
  EXPECT_EQ(told("mtad", {.tau = 0.5, .beams = 4}),
            (Json{{"method", "mtad"}, {"tau", 0.5}, {"beams", 4}, {"drafts", 1}, {"length", 4}}));
}

TEST(Report, TimingsCoverEveryText) {
  const std::vector<CompletionResult> texts = {text(0s, 0, 3), text(0s, 4, 1)};
  const Json timings = timings_of(request_for(2), texts);
  EXPECT_EQ(timings["cache_n"], 4);
  EXPECT_EQ(timings["prompt_n"], 11 + 7);
  EXPECT_EQ(timings["predicted_n"], 4 + 2);
  EXPECT_EQ(timings["draft_n"], 8);
  EXPECT_EQ(timings["draft_n_accepted"], 4);
}

TEST(Report, TimesAreThoseInWhichAnyTextWasAtIt) {
  const auto milliseconds = [](std::chrono::seconds second, std::chrono::seconds third) {
    const std::vector<CompletionResult> texts = {text(0s, 0, 3), text(second, 0, 1), text(third, 0, 1)};
    const Json timings = timings_of(request_for(3), texts);
    EXPECT_DOUBLE_EQ(timings["predicted_per_second"], 8e3 / timings["predicted_ms"].get<double>());
    return std::pair(timings["prompt_ms"].get<double>(), timings["predicted_ms"].get<double>());
  };
  EXPECT_EQ(milliseconds(0s, 0s), std::pair(1e3, 2e3)) << "side by side";
  EXPECT_EQ(milliseconds(1s, 0s), std::pair(2e3, 3e3)) << "shifted";
  EXPECT_EQ(milliseconds(30s, 60s), std::pair(3e3, 6e3)) << "one after the other, and waiting between";
  EXPECT_EQ(milliseconds(60s, 30s), std::pair(3e3, 6e3)) << "in any order";
}

TEST(Report, SpeculationCoversEveryText) {
  const std::vector<CompletionResult> texts = {text(0s, 0, 3), text(0s, 0, 1), text(0s, 0, 1)};
  const Json metrics = speculation_of(request_for(1, 3).decoding, texts);
  EXPECT_EQ(metrics["acceptance_histogram"], (Json{0, 2, 0, 1}));
  EXPECT_EQ(metrics["num_draft_tokens"], 12);
  EXPECT_EQ(metrics["num_accepted_draft_tokens"], 5);
  EXPECT_EQ(metrics["num_spec_tokens"], 3);
  EXPECT_DOUBLE_EQ(metrics["mean_acceptance_length"], 8.0 / 3.0);
  EXPECT_TRUE(metrics.contains("bias_tv"));
}

TEST(Report, ThePromptsSpeedCountsWhatWasComputedInItsTime) {
  const std::vector<CompletionResult> cold = {text(0s, 0, 1)}, half = {text(0s, 6, 1)},
                                      warm = {text(0s, 10, 1)};
  EXPECT_EQ(timings_of(request_for(1), cold)["prompt_per_second"], 10.0)
      << "the last token belongs to the block";
  EXPECT_EQ(timings_of(request_for(1), half)["prompt_per_second"], 4.0);
  EXPECT_EQ(timings_of(request_for(1), half)["prompt_per_token_ms"], 250.0);
  EXPECT_EQ(timings_of(request_for(1), warm)["prompt_n"], 1);
  EXPECT_EQ(timings_of(request_for(1), warm)["prompt_per_second"], 0.0);
  EXPECT_EQ(timings_of(request_for(1), warm)["prompt_per_token_ms"], 0.0);
}

TEST(Report, APromptsTokenIsCachedWhereNoTextOfItComputedIt) {
  const auto cached = [](std::size_t n, const std::vector<CompletionResult>& texts) {
    const Json usage = usage_of(request_for(texts.size() / n, n), texts);
    EXPECT_EQ(usage["prompt_tokens"], prompt_tokens * texts.size() / n);
    return usage["prompt_tokens_details"]["cached_tokens"].get<std::size_t>();
  };
  EXPECT_EQ(cached(2, {text(0s, 10, 1), text(0s, 10, 1)}), 10u) << "not more than every text was spared";
  EXPECT_EQ(cached(2, {text(0s, 10, 1), text(0s, 3, 1)}), 3u);
  EXPECT_EQ(cached(1, {text(0s, 10, 1), text(0s, 3, 1)}), 13u) << "two prompts";
  CompletionResult not_started;
  not_started.reason = FinishReason::not_started;
  EXPECT_EQ(cached(2, {text(0s, 10, 1), not_started}), 10u);
  EXPECT_EQ(cached(1, {not_started}), 0u);
}

TEST(Report, CompletionsNameBytesThatAreNoTextByTheirNumbers) {
  GenerationRequest request;
  request.api = Api::completion;
  request.alternatives = 4;
  const PreparedRequest prepared = request_for(1);
  const AnswerHead head{request, *test::bundled_models()->tokenizer, prepared, "id", 0, "model"};
  FinishedText finished{{}, text(0s, 0, 0)};
  TokenReport token{7, "\xe2\x80", 0, 2, Source::draft, -1.0};
  token.alternatives = {
      {7, "\xe2\x80", -1.0}, {8, "\xe2\x81", -2.0}, {9, "é", -3.0}, {10, "a", -4.0}, {11, "a", -5.0}};
  finished.all.tokens = {token};
  const Json told = openai_format(head)->whole({&finished, 1})["choices"][0]["logprobs"];
  EXPECT_EQ(told["tokens"], Json::array({R"(bytes:\xe2\x80)"}));
  EXPECT_EQ(text_of(told["top_logprobs"][0]),
            R"({"bytes:\\xe2\\x80":-1.0,"bytes:\\xe2\\x81":-2.0,"é":-3.0,"a":-4.0,"a#11":-5.0})");
}

}  // namespace
}  // namespace spectr::server
