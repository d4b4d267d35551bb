#include "apps/server/report.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "apps/server/format.h"
#include "tests/server/bundled.h"

namespace spectr::server {
namespace {

using namespace std::chrono_literals;
using Moment = std::chrono::steady_clock::time_point;

constexpr std::size_t prompt_tokens = 11;

std::vector<Task> tasks(std::size_t count) {
  const Task task{.prompt = std::vector<Token>(prompt_tokens, 1),
                  .method = find_method("spectr").value(),
                  .settings = {},
                  .warp = std::make_shared<const Warp>(Warp::make({}).value()),
                  .limit = 100};
  return std::vector<Task>(count, task);
}

/// A text of one block with so many accepted drafts of four: one second for its prompt, two for its tokens.
Outcome text(std::chrono::seconds begun, std::size_t cached, std::size_t accepted) {
  Block block;
  block.tokens.assign(accepted + 1, 7);
  block.sources.assign(accepted + 1, Source::draft);
  block.accepted = accepted;
  block.drafted = 4;
  block.negative_log_likelihoods.assign(accepted + 1, 1.0);
  Outcome outcome;
  outcome.reason = FinishReason::limit;
  outcome.begun = Moment(1h + begun);
  outcome.cached = cached;
  outcome.computed = prompt_tokens - cached;
  outcome.statistics.count(block, block.tokens.size());
  outcome.statistics.prompt_seconds = 1.0;
  outcome.statistics.total_seconds = 3.0;
  outcome.length = accepted;
  return outcome;
}

TEST(Report, SettingsOfSpeculationAreThoseThatTheMethodReads) {
  const auto told = [](std::string_view name, MethodOptions settings) {
    return speculation_settings(*find_method(name).value(), settings);
  };
  EXPECT_EQ(told("plain", {}), (Json{{"method", "plain"}}));
  EXPECT_EQ(told("ngram", {.length = 6}),
            (Json{{"method", "ngram"}, {"ngram", 3}, {"drafts", 1}, {"length", 6}}));
  EXPECT_EQ(told("mtad", {.tau = 0.5, .beams = 4}),
            (Json{{"method", "mtad"}, {"tau", 0.5}, {"beams", 4}, {"drafts", 1}, {"length", 4}}));
}

TEST(Report, TimingsCoverEveryText) {
  const std::vector<Outcome> texts = {text(0s, 0, 3), text(0s, 4, 1)};
  const Json timings = timings_of(tasks(2), texts);
  EXPECT_EQ(timings["cache_n"], 4);
  EXPECT_EQ(timings["prompt_n"], 11 + 7);
  EXPECT_EQ(timings["predicted_n"], 4 + 2);
  EXPECT_EQ(timings["draft_n"], 8);
  EXPECT_EQ(timings["draft_n_accepted"], 4);
}

TEST(Report, TimesAreThoseInWhichAnyTextWasAtIt) {
  const auto milliseconds = [](std::chrono::seconds second, std::chrono::seconds third) {
    const std::vector<Outcome> texts = {text(0s, 0, 3), text(second, 0, 1), text(third, 0, 1)};
    const Json timings = timings_of(tasks(3), texts);
    EXPECT_DOUBLE_EQ(timings["predicted_per_second"], 8e3 / timings["predicted_ms"].get<double>());
    return std::pair(timings["prompt_ms"].get<double>(), timings["predicted_ms"].get<double>());
  };
  EXPECT_EQ(milliseconds(0s, 0s), std::pair(1e3, 2e3)) << "side by side";
  EXPECT_EQ(milliseconds(1s, 0s), std::pair(2e3, 3e3)) << "shifted";
  EXPECT_EQ(milliseconds(30s, 60s), std::pair(3e3, 6e3)) << "one after the other, and waiting between";
  EXPECT_EQ(milliseconds(60s, 30s), std::pair(3e3, 6e3)) << "in any order";
}

TEST(Report, SpeculationCoversEveryText) {
  const std::vector<Outcome> texts = {text(0s, 0, 3), text(0s, 0, 1), text(0s, 0, 1)};
  const Json metrics = speculation_of(tasks(3).front(), texts);
  EXPECT_EQ(metrics["acceptance_histogram"], (Json{0, 2, 0, 1}));
  EXPECT_EQ(metrics["num_draft_tokens"], 12);
  EXPECT_EQ(metrics["num_accepted_draft_tokens"], 5);
  EXPECT_EQ(metrics["num_spec_tokens"], 3);
  EXPECT_DOUBLE_EQ(metrics["mean_acceptance_length"], 8.0 / 3.0);
  EXPECT_TRUE(metrics.contains("bias_tv"));
}

TEST(Report, ThePromptsSpeedCountsWhatWasComputedInItsTime) {
  const std::vector<Outcome> cold = {text(0s, 0, 1)}, half = {text(0s, 6, 1)}, warm = {text(0s, 10, 1)};
  EXPECT_EQ(timings_of(tasks(1), cold)["prompt_per_second"], 10.0) << "the last token belongs to the block";
  EXPECT_EQ(timings_of(tasks(1), half)["prompt_per_second"], 4.0);
  EXPECT_EQ(timings_of(tasks(1), half)["prompt_per_token_ms"], 250.0);
  EXPECT_EQ(timings_of(tasks(1), warm)["prompt_n"], 1);
  EXPECT_EQ(timings_of(tasks(1), warm)["prompt_per_second"], 0.0);
  EXPECT_EQ(timings_of(tasks(1), warm)["prompt_per_token_ms"], 0.0);
}

TEST(Report, APromptsTokenIsCachedWhereNoTextOfItComputedIt) {
  const auto cached = [](std::size_t n, const std::vector<Outcome>& texts) {
    const Json usage = usage_of(tasks(texts.size()), n, texts);
    EXPECT_EQ(usage["prompt_tokens"], prompt_tokens * texts.size() / n);
    return usage["prompt_tokens_details"]["cached_tokens"].get<std::size_t>();
  };
  EXPECT_EQ(cached(2, {text(0s, 10, 1), text(0s, 10, 1)}), 10u) << "not more than every text was spared";
  EXPECT_EQ(cached(2, {text(0s, 10, 1), text(0s, 3, 1)}), 3u);
  EXPECT_EQ(cached(1, {text(0s, 10, 1), text(0s, 3, 1)}), 13u) << "two prompts";
  Outcome not_started;
  not_started.reason = FinishReason::not_started;
  EXPECT_EQ(cached(2, {text(0s, 10, 1), not_started}), 10u);
  EXPECT_EQ(cached(1, {not_started}), 0u);
}

TEST(Report, CompletionsNameBytesThatAreNoTextByTheirNumbers) {
  GenerationRequest request;
  request.api = Api::completion;
  request.alternatives = 4;
  const std::vector<Task> one = tasks(1);
  const AnswerHead head{request, *bundled().tokenizer, one, "id", 0, "model", 1};
  FinishedText finished{{}, text(0s, 0, 0)};
  TokenReport token{7, "\xe2\x80", 0, Source::draft, -1.0};
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
