#include "apps/cli/commands/plan_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "spectr/transport/plans.h"
#include "tests/support/chi_square.h"

namespace spectr::cli {
namespace {

struct Answers {
  Status status;
  std::vector<Json> lines;
};

std::vector<Json> parse_lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

Answers eval(const std::string& plan, const std::string& input, double epsilon = 0.0) {
  std::istringstream in(input);
  std::ostringstream out;
  const Status status = run_plan_eval(in, out, {.plan = plan, .epsilon = epsilon});
  return {status, parse_lines(out.str())};
}

std::string error_of(const std::string& line, const std::string& plan = "k-seq") {
  const Answers answers = eval(plan, line + "\n");
  EXPECT_EQ(answers.status, Status::usage);
  EXPECT_EQ(answers.lines.size(), 1u);
  return answers.lines.at(0).value("error", "");
}

constexpr auto triangle = R"({"id": 7, "p": [0.5, 0.3333333333333333, 0.16666666666666666],
 "q": [0.16666666666666666, 0.3333333333333333, 0.5], "k": 2})";

std::string one_line(std::string text) {
  std::erase(text, '\n');
  return text + "\n";
}

TEST(PlanEval, AnswersWithTheFieldsOfTheContract) {
  const Answers answers = eval("k-seq", one_line(triangle));
  EXPECT_EQ(answers.status, Status::done);
  ASSERT_EQ(answers.lines.size(), 1u);
  const Json& line = answers.lines[0];
  EXPECT_EQ(line["id"], 7);
  EXPECT_EQ(line["plan"], "k-seq");
  EXPECT_EQ(line["k"], 2);
  EXPECT_NEAR(line["acceptance"].get<double>(), 0.75, 1e-15);
  EXPECT_NEAR(line["parameters"]["rho"].get<double>(), 1.5, 1e-14);
  const auto distribution = line["law"].get<std::vector<double>>();
  EXPECT_THAT(distribution, testing::Pointwise(testing::DoubleNear(1e-15), {1. / 6, 1. / 3, 1. / 2}));
  // The last token's q/ρ exceeds its p; the residual is 1/2 − 1/6 · 3/2 of it.
  EXPECT_THAT(line["residual"].get<std::vector<double>>(),
              testing::Pointwise(testing::DoubleNear(1e-14), {0.0, 0.0, 1.0}));
}

TEST(PlanEval, PrintsNumbersThatReadBackTheSame) {
  std::istringstream in(R"({"p": [0.1, 0.9], "q": [0.7, 0.3], "k": 1})");
  std::ostringstream out;
  run_plan_eval(in, out, {.plan = "maximal"});
  EXPECT_EQ(Json::parse(out.str())["acceptance"].get<double>(), 0.1 + 0.3);
}

TEST(PlanEval, TakesOneDistributionPerDraft) {
  const std::string line = R"({"p": [[0.9, 0.1], [0.1, 0.9]], "q": [0.5, 0.5], "k": 2})";
  for (const std::string plan : {"k-seq", "recursive", "str+", "str++"}) {
    const Answers answers = eval(plan, line);
    ASSERT_FALSE(answers.lines.at(0).contains("error")) << answers.lines[0];
    EXPECT_THAT(answers.lines[0]["law"].get<std::vector<double>>(),
                testing::Pointwise(testing::DoubleNear(1e-12), {0.5, 0.5}));
  }
  EXPECT_THAT(error_of(line, "optimal"), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(error_of(line, "recursive-wor"), testing::HasSubstr("one law"));
}

TEST(PlanEval, GoesOnAfterABadLine) {
  const Answers answers =
      eval("recursive", "not json\n\n{\"id\": \"b\", \"p\": [1], \"q\": [1], \"k\": 3}\n");
  EXPECT_EQ(answers.status, Status::usage);
  ASSERT_EQ(answers.lines.size(), 2u);
  EXPECT_EQ(answers.lines[0]["id"], nullptr);
  EXPECT_THAT(answers.lines[0]["error"].get<std::string>(), testing::HasSubstr("line 1 is not JSON"));
  EXPECT_EQ(answers.lines[1]["id"], "b");
  EXPECT_EQ(answers.lines[1]["acceptance"], 1.0);
}

TEST(PlanEval, AnswersALineThatIsNestedDeeply) {
  const std::size_t levels = 100'000;
  const std::string deep = R"({"p": )" + std::string(levels, '[') + std::string(levels, ']') + "}";
  const Answers answers = eval("k-seq", deep + "\n" + one_line(triangle));
  EXPECT_EQ(answers.status, Status::usage);
  ASSERT_EQ(answers.lines.size(), 2u);
  EXPECT_EQ(answers.lines[0]["error"], "line 1 is nested more than 32 deep");
  EXPECT_EQ(answers.lines[1]["id"], 7);
}

TEST(PlanEval, ShortensWhatItQuotes) {
  const std::string text(1'000'000, 'x');
  EXPECT_LT(error_of(R"({"p": ")" + text + R"(", "q": [1], "k": 1})").size(), 200u);
  EXPECT_LT(error_of(R"({"p": [")" + text + R"("], "q": [1], "k": 1})").size(), 200u);
  EXPECT_LT(error_of(R"({"p": ")" + text).size(), 300u);
}

TEST(PlanEval, NamesTheEntryAtFault) {
  EXPECT_EQ(error_of(R"({"p": [0.5, 0.3, 0.3, -0.1], "q": [1, 0, 0, 0], "k": 1})"), "p[3] is negative: -0.1");
  EXPECT_EQ(error_of(R"({"p": [1, 0], "q": [0.4, 0.5], "k": 1})"), "q sums to 0.9, not to 1");
  EXPECT_EQ(error_of(R"({"p": [1, 0, 0], "q": [0.25, 0.25, 0.25, 0.25], "k": 1})"),
            "p and q have different lengths: 3 and 4");
  EXPECT_EQ(error_of(R"({"p": [1], "q": [1], "k": 0})"), "k must be at least 1, got 0");
  EXPECT_EQ(error_of(R"({"p": [1], "q": [1], "k": 1.5})"), "k must be a whole number, got 1.5");
  EXPECT_EQ(error_of(R"({"p": [1], "q": [1], "k": 1000000})"), "k must be at most 4096, got 1000000");
  EXPECT_EQ(error_of(R"({"p": [1, null], "q": [1, 0], "k": 1})"), "p[1] is not a number: null");
  EXPECT_EQ(error_of(R"({"p": [1, 0], "q": ["nan", 0], "k": 1})"), "q[0] is not a number: \"nan\"");
  EXPECT_EQ(error_of(R"({"p": [], "q": [1], "k": 1})"), "p is empty");
  EXPECT_EQ(error_of(R"({"q": [1], "k": 1})"), "p is missing");
  EXPECT_EQ(error_of(R"({"p": [1], "k": 1})"), "q is missing");
  EXPECT_EQ(error_of(R"({"p": [1], "q": [1]})"), "k is missing");
  EXPECT_EQ(error_of(R"({"p": 1, "q": [1], "k": 1})"), "p must be a list of numbers, got 1");
  EXPECT_EQ(error_of(R"({"p": [[1], [1]], "q": [1], "k": 3})"), "p holds 2 laws and k is 3");
  EXPECT_EQ(error_of(R"({"p": [[1, 0], [2, -1]], "q": [1, 0], "k": 2})"), "p[1][1] is negative: -1");
  EXPECT_EQ(error_of(R"([1])"), "the line is not a JSON object");
  EXPECT_EQ(error_of(R"({"p": [1], "q": [1], "k": 2})", "epsilon-opt"),
            "epsilon-opt takes one draft, got k = 2");
  EXPECT_THAT(error_of(R"({"p": [1e999], "q": [1], "k": 1})"), testing::HasSubstr("1e999"));
}

TEST(PlanEval, NormalisesSumsThatAreOffByRounding) {
  const Answers answers = eval("k-seq", R"({"p": [0.5, 0.50000005], "q": [0.5, 0.5], "k": 2})");
  EXPECT_EQ(answers.status, Status::done);
}

TEST(PlanEval, OmitsTheDistributionAboveTwoHundredThousandTuples) {
  std::string p = "[1";
  for (int x = 1; x < 60; ++x) p += ",0";
  p += "]";
  const Answers small = eval("k-seq", R"({"p": )" + p + R"(, "q": )" + p + R"(, "k": 2})");
  const Answers large = eval("k-seq", R"({"p": )" + p + R"(, "q": )" + p + R"(, "k": 3})");
  EXPECT_TRUE(small.lines[0]["law"].is_array());
  EXPECT_TRUE(large.lines[0]["law"].is_null());
  EXPECT_TRUE(large.lines[0]["residual"].is_null());  // acceptance is 1
}

TEST(PlanEval, ReportsTheBiasOfOverAcceptance) {
  const Answers answers = eval("epsilon-opt", R"({"p": [0.8, 0.2], "q": [0.3, 0.7], "k": 1})", 0.1);
  const Json& line = answers.lines.at(0);
  EXPECT_NEAR(line["parameters"]["bias"].get<double>(), 0.1, 1e-15);
  EXPECT_NEAR(line["law"][0].get<double>(), 0.4, 1e-15);
}

TEST(PlanEval, RefusesAnUnknownPlan) {
  std::istringstream in;
  std::ostringstream out;
  EXPECT_THROW(run_plan_eval(in, out, {.plan = "best"}), Failure);
}

// The false-alarm rate is 2e-6 per plan.
TEST(PlanSample, CountsFollowTheTarget) {
  for (const std::string plan : {"k-seq", "recursive", "recursive-wor", "optimal"}) {
    std::istringstream in(R"({"id": 1, "p": [0.6, 0.3, 0.1], "q": [0.2, 0.35, 0.45], "k": 2})");
    std::ostringstream out;
    PlanSampleFlags flags{{.plan = plan}, 50'000, 3};
    EXPECT_EQ(run_plan_sample(in, out, flags), Status::done);
    const Json line = Json::parse(out.str());
    const auto counts = line["counts"].get<std::vector<std::uint64_t>>();
    EXPECT_EQ(counts[0] + counts[1] + counts[2], 50'000u);
    EXPECT_GT(test::chi_square_p_value(counts, std::vector{0.2, 0.35, 0.45}), 1e-6) << plan;
    std::istringstream same(in.str());
    std::ostringstream exact;
    EXPECT_EQ(run_plan_eval(same, exact, {.plan = plan}), Status::done);
    const double acceptance = Json::parse(exact.str())["acceptance"].get<double>();
    const double deviation = std::sqrt(acceptance * (1.0 - acceptance) / 50'000.0);
    EXPECT_NEAR(line["accepted"].get<double>() / 50'000.0, acceptance, 5.0 * deviation) << plan;
  }
}

TEST(PlanSample, IsReplayedByItsSeed) {
  const auto sampled = [](std::uint64_t seed) {
    std::istringstream in(R"({"p": [0.6, 0.4], "q": [0.2, 0.8], "k": 2})");
    std::ostringstream out;
    run_plan_sample(in, out, {{.plan = "k-seq"}, 1000, seed});
    return out.str();
  };
  EXPECT_EQ(sampled(1), sampled(1));
  EXPECT_NE(sampled(1), sampled(2));
}

TEST(PlanTime, ReportsEveryPlanThatApplies) {
  PlanTimeFlags flags;
  flags.vocabulary = 10;
  flags.drafts = 3;
  std::ostringstream every;
  EXPECT_EQ(run_plan_time(every, flags), Status::done);
  const std::vector<Json> lines = parse_lines(every.str());
  ASSERT_EQ(lines.size(), plan_rules().size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const PlanRule& rule = plan_rules()[i];
    EXPECT_EQ(lines[i]["plan"], rule.name);
    EXPECT_EQ(lines[i].contains("error"), rule.max_drafts == 1) << rule.name;
  }
  flags.plan = "epsilon-opt";
  EXPECT_EQ(run_plan_time(every, flags), Status::usage);
}

TEST(PlanTime, TimesEveryKindOfLaws) {
  PlanTimeFlags flags;
  flags.plan = "k-seq";
  flags.vocabulary = 50;
  for (const char* laws : {"random", "language"}) {
    flags.laws = laws;
    std::ostringstream out;
    EXPECT_EQ(run_plan_time(out, flags), Status::done);
    const Json line = parse_lines(out.str()).at(0);
    EXPECT_EQ(line["vocab"], 50);
    EXPECT_EQ(line["laws"], laws);
    EXPECT_GT(line["microseconds"].get<double>(), 0.0);
  }
  flags.laws = "german";
  std::ostringstream out;
  EXPECT_THROW(run_plan_time(out, flags), Failure);
}

}  // namespace
}  // namespace spectr::cli
