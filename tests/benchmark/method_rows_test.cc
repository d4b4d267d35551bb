// Rows computed from measurements, checked by hand.
#include "apps/bench/methods/method_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace spectr::bench {
namespace {

/// Returns a take with these numbers of tokens, calls, seconds and nats.
Take take(double tokens, double calls, double seconds, double nats, std::optional<double> score = {}) {
  return {tokens, calls, seconds, nats, {}, score};
}

/// Returns a measurement of two prompts; plain decoding takes one second per token.
Measurement measurement(double second_calls, std::optional<double> score = {}) {
  Measurement m;
  m.takes = {take(8, 4, 4, 8, score), take(12, second_calls, 8, 24, score)};
  m.plain = {take(8, 8, 8, 8), take(12, 12, 12, 12)};
  m.shape = {2, 4};
  return m;
}

Json head(const char* method = "spectr") {
  return {{"preset", nullptr},
          {"column", nullptr},
          {"method", method},
          {"plan", nullptr},
          {"drafts", 2},
          {"length", 4},
          {"beams", nullptr},
          {"beam_mode", nullptr},
          {"tau", nullptr},
          {"bild_fallback", nullptr},
          {"bild_rollback", nullptr},
          {"warp", Json::object()},
          {"dataset", "stories"},
          {"models", {{"target", "t"}, {"draft", "d"}}}};
}

TEST(MethodRows, OfOneRepetitionHaveAStandardErrorAndNoDeviation) {
  const Measurement one[] = {measurement(3)};
  const Json row = row_of(head(), one, nullptr, {});
  EXPECT_DOUBLE_EQ(row["block_efficiency"]["mean"], 3.0);  // mean of 2 and 4
  EXPECT_TRUE(row["block_efficiency"]["sd"].is_null());
  EXPECT_DOUBLE_EQ(row["block_efficiency"]["se"], 1.0);
  EXPECT_DOUBLE_EQ(row["block_efficiency"]["totals"], 20.0 / 7.0);
  EXPECT_DOUBLE_EQ(row["tokens_per_second"]["mean"], 20.0 / 12.0);
  EXPECT_DOUBLE_EQ(row["perplexity"]["mean"], std::exp(32.0 / 20.0));
  EXPECT_DOUBLE_EQ(row["speedup"], 2.0 / (0.5 + 2.0 / 3.0));  // by mean seconds per token
  EXPECT_EQ(row["repeats"], 1);
  EXPECT_TRUE(row["joules_per_token"].is_null());
  EXPECT_TRUE(row["score"].is_null());
  EXPECT_TRUE(row["paper"].is_null());
}

TEST(MethodRows, OfRepetitionsHaveADeviationOverThem) {
  const Measurement two[] = {measurement(3), measurement(6)};
  const Json row = row_of(head(), two, nullptr, {});
  EXPECT_DOUBLE_EQ(row["block_efficiency"]["mean"], 2.5);  // mean of 3 and 2
  EXPECT_DOUBLE_EQ(row["block_efficiency"]["sd"], std::sqrt(0.5));
  EXPECT_TRUE(row["block_efficiency"]["se"].is_null());
  EXPECT_DOUBLE_EQ(row["block_efficiency"]["totals"], 40.0 / 17.0);
  EXPECT_DOUBLE_EQ(row["speedup_sd"], 0.0);
}

TEST(MethodRows, CountThePerplexityOfPromptsThatPlainDecodingFinishedInTime) {
  Measurement m = measurement(3);
  m.plain.pop_back();
  const Json row = row_of(head(), {&m, 1}, nullptr, {});
  EXPECT_DOUBLE_EQ(row["perplexity"]["mean"], std::exp(1.0));
  EXPECT_DOUBLE_EQ(row["speedup"], 2.0);
  EXPECT_DOUBLE_EQ(row["block_efficiency"]["mean"], 3.0);  // over all prompts of the method
}

TEST(MethodRows, HaveTheMeanScoreOfEveryCategory) {
  Measurement m = measurement(3);
  m.takes[0].score = 1.0;
  m.takes[1].score = 4.0;
  const std::string kinds[] = {"math", "writing"};
  const Json row = row_of(head(), {&m, 1}, nullptr, {"judge", kinds});
  EXPECT_EQ(text_of(row["score"]),
            R"({"name":"judge","mean":2.5,"sd":null,"by_category":{"math":1.0,"writing":4.0}})");
}

TEST(MethodRows, OfRanksTakeTheAnswerInThatPlaceOfEveryPrompt) {
  // Perplexities are e and e² in the first repetition, e³ and e in the second.
  Measurement first, second;
  first.takes = {take(1, 1, 1, 1, 10.0), take(1, 1, 1, 2, 20.0)};
  second.takes = {take(1, 1, 1, 3, 30.0), take(1, 1, 1, 1, 40.0)};
  first.plain = first.takes;
  second.plain = second.takes;
  const Measurement repeats[] = {first, second};
  const Json lowest = ranked_row(head(), repeats, {"lowest", 0}, nullptr, {"judge"});
  EXPECT_DOUBLE_EQ(lowest["perplexity"]["mean"], std::exp(1.0));
  EXPECT_DOUBLE_EQ(lowest["score"]["mean"], 25.0);  // mean of 10 and 40
  const Json highest = ranked_row(head(), repeats, {"highest", 1}, nullptr, {"judge"});
  EXPECT_DOUBLE_EQ(highest["perplexity"]["mean"], (std::exp(3.0) + std::exp(2.0)) / 2.0);
  EXPECT_DOUBLE_EQ(highest["score"]["mean"], 25.0);  // mean of 30 and 20
}

TEST(MethodRows, AcrossDataSetsHaveTheDeviationOverThem) {
  const Measurement one[] = {measurement(3)}, other[] = {measurement(6)};
  Json second_head = head();
  second_head["dataset"] = "chat";
  second_head["drafts"] = 2;
  second_head["tau"] = 0.9;
  const Json rows[] = {row_of(head(), one, nullptr, {}), row_of(second_head, other, nullptr, {})};
  const Json across = row_across(rows);
  EXPECT_DOUBLE_EQ(across["block_efficiency"]["mean"], 2.5);
  EXPECT_DOUBLE_EQ(across["block_efficiency"]["sd"], std::sqrt(0.5));
  EXPECT_TRUE(across["dataset"].is_null());
  EXPECT_TRUE(across["tau"].is_null());
  EXPECT_EQ(across["datasets"], 2);
  EXPECT_TRUE(across["joules_per_token"].is_null());
}

TEST(MethodRows, AreRelativeToTheRowOfTheSameLength) {
  const auto row = [](const char* method, std::size_t length, double speedup, double printed) {
    Json one = head(method);
    one["length"] = length;
    one["speedup"] = speedup;
    one["relative"] = nullptr;
    one["paper"] = {{"speedup", {{"mean", printed}, {"sd", nullptr}}}, {"tokens_per_second", nullptr}};
    return one;
  };
  Json rows = {row("speculative", 4, 1.5, 1.67), row("speculative", 8, 1.0, 1.56),
               row("spectr", 4, 3.0, 2.08), row("spectr", 8, 4.0, 2.13), row("bild", 10, 2.0, 1.0)};
  set_relative(rows, "speculative");
  EXPECT_DOUBLE_EQ(rows[2]["relative"], 2.0);
  EXPECT_DOUBLE_EQ(rows[3]["relative"], 4.0);
  EXPECT_DOUBLE_EQ(rows[3]["paper"]["relative"], 2.13 / 1.56);
  EXPECT_TRUE(rows[4]["relative"].is_null());  // the preset could mean either of two
  EXPECT_DOUBLE_EQ(rows[0]["relative"], 1.0);
}

TEST(Measurements, AreTheSameAfterTheyWereKept) {
  Measurement m = measurement(3, 0.5);
  m.takes[0].joules = 2.0;
  m.acceptance_per_position = {0.5, 0.25};
  const Measurement again = measurement_of(Json::parse(text_of(to_json(m))));
  EXPECT_EQ(to_json(again), to_json(m));
  EXPECT_EQ(again.takes[1].joules, std::nullopt);
  EXPECT_EQ(again.takes[1].score, 0.5);
}

}  // namespace
}  // namespace spectr::bench
