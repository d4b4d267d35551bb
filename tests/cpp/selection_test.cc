// Distributions, plans, verification and exact distributions through the public C++ headers.
#include <gmock/gmock.h>
#include <spectr/distribution.h>
#include <spectr/law.h>
#include <spectr/methods.h>
#include <spectr/plan.h>
#include <spectr/verify.h>
#include <spectr/version.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using spectr::ErrorCode;
using spectr::Token;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

const std::vector<double> p = {1.0 / 2, 1.0 / 3, 1.0 / 6}, q = {1.0 / 6, 1.0 / 3, 1.0 / 2};

template <class T>
void expect_error(const spectr::Result<T>& result, ErrorCode code, const char* words) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code);
  EXPECT_THAT(result.error().message, HasSubstr(words));
}

TEST(CppResult, ValueThrowsTheErrorAndKeepsItsCode) {
  const auto failed = spectr::Plan::build("none", p, q, 2);
  expect_error(failed, ErrorCode::bad_input, "no plan 'none'");
  try {
    static_cast<void>(failed.value());
    FAIL();
  } catch (const spectr::Exception& exception) {
    EXPECT_EQ(exception.code(), ErrorCode::bad_input);
    EXPECT_EQ(exception.what(), failed.error().message);
  }
  const spectr::Result<void> done;
  EXPECT_TRUE(done);
  EXPECT_NO_THROW(done.value());
  EXPECT_THROW(spectr::Result<void>(spectr::Error{ErrorCode::io, "x"}).value(), spectr::Exception);
}

TEST(CppDistribution, OfLogitsAreTheirSoftmaxWithoutFilters) {
  const std::vector<float> logits = {1.0f, 0.0f, -1.0f};
  const auto found = spectr::probabilities(logits, spectr::Sampling::none()).value();
  const double sum = std::exp(1.0) + 1.0 + std::exp(-1.0);
  EXPECT_THAT(found, ElementsAre(DoubleNear(std::exp(1.0) / sum, 1e-12), DoubleNear(1.0 / sum, 1e-12),
                                 DoubleNear(std::exp(-1.0) / sum, 1e-12)));
  EXPECT_THAT(spectr::probabilities(logits, {.temperature = 0.0}).value(), ElementsAre(1.0, 0.0, 0.0));
  EXPECT_EQ(spectr::probabilities(logits, {.temperature = 1.0, .top_k = 2}).value()[2], 0.0);
}

TEST(CppDistribution, DefaultsAreThoseOfTheCInterface) {
  const spectr_sampling expected = spectr_sampling_defaults();
  const spectr::Sampling sampling;
  EXPECT_EQ(sampling.temperature, expected.temperature);
  EXPECT_EQ(sampling.top_k, expected.top_k);
  EXPECT_EQ(sampling.top_p, expected.top_p);
  EXPECT_EQ(sampling.min_p, expected.min_p);
}

TEST(CppDistribution, RefusesWhatIsNoLogitAndNoProbability) {
  const std::vector<float> bad = {0.0f, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_FALSE(spectr::probabilities(bad).has_value());
  expect_error(spectr::probabilities(std::vector<float>{0.0f}, {.temperature = -1.0}), ErrorCode::bad_input,
               "temperature");
  expect_error(spectr::sample(std::vector<double>{0.5, 0.4}, {}), ErrorCode::bad_input,
               "probabilities sums to 0.9");
  EXPECT_FALSE(spectr::sample({}, {}).has_value());
}

TEST(CppDistribution, SamplesHaveTheProbabilitiesOfTheirTokens) {
  constexpr int draws = 20'000;
  std::array<int, 3> counts{};
  for (int i = 0; i < draws; ++i)
    ++counts[spectr::sample(q, {.seed = 1, .block = static_cast<std::uint64_t>(i)}).value()];
  // Each bound is five standard deviations; false alarms have a probability below 2e-6.
  for (std::size_t x = 0; x < q.size(); ++x)
    EXPECT_NEAR(counts[x] / double{draws}, q[x], 5 * std::sqrt(q[x] * (1 - q[x]) / draws));
  EXPECT_EQ(spectr::sample(q, {.seed = 1}).value(), spectr::sample(q, {.seed = 1}).value());
}

TEST(CppPlan, EveryLosslessPlanHasTheTargetsDistribution) {
  int checked = 0;
  for (const spectr::PlanInfo& info : spectr::plans()) {
    if (!info.lossless) continue;
    const std::size_t k = info.max_drafts == 1 ? 1 : 2;
    const auto plan = spectr::Plan::build(info.name, p, q, k);
    ASSERT_TRUE(plan) << info.name << ": " << plan.error().message;
    EXPECT_THAT(plan->law().value(), Pointwise(DoubleNear(1e-12), q)) << info.name;
    ++checked;
  }
  EXPECT_GE(checked, 7);
}

TEST(CppPlan, AcceptanceConditionalAndResidualAgree) {
  const auto plan = spectr::Plan::build("optimal", p, q, 2).value();
  EXPECT_EQ(plan.vocabulary(), 3u);
  EXPECT_EQ(plan.drafts(), 2u);
  EXPECT_NEAR(plan.acceptance().value(), 29.0 / 36, 1e-12);
  std::vector<double> mean(3, 0.0);
  for (Token a = 0; a < 3; ++a) {
    for (Token b = 0; b < 3; ++b) {
      const auto given = plan.conditional(std::array{a, b}).value();
      for (std::size_t x = 0; x < 3; ++x) mean[x] += p[a] * p[b] * given[x];
    }
  }
  EXPECT_THAT(mean, Pointwise(DoubleNear(1e-12), q));
  const auto residual = plan.residual().value();
  ASSERT_TRUE(residual.has_value());
  EXPECT_NEAR(std::accumulate(residual->begin(), residual->end(), 0.0), 1.0, 1e-12);
  EXPECT_FALSE(spectr::Plan::build("maximal", q, q, 1).value().residual().value().has_value());
}

TEST(CppPlan, SelectsADraftAsOftenAsItsAcceptanceSays) {
  const auto built = spectr::Plan::build("k-seq", p, q, 2).value();
  constexpr int blocks = 20'000;
  int accepted = 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const auto drafts = built.draw({.seed = 2, .block = block}).value();
    const auto y = built.select(drafts, {.seed = 2, .block = block}).value();
    if (!y.accepted) continue;
    ++accepted;
    EXPECT_THAT(drafts, testing::Contains(y.token));
  }
  const double a = built.acceptance().value();
  // The bound is five standard deviations; false alarms have a probability below 6e-7.
  EXPECT_NEAR(accepted / double{blocks}, a, 5 * std::sqrt(a * (1 - a) / blocks));
}

TEST(CppPlan, RefusesBadArgumentsByName) {
  expect_error(spectr::Plan::build("optimal", p, std::vector<double>{1.0}, 2), ErrorCode::bad_input,
               "p has 3 entries, but q has 1");
  expect_error(spectr::Plan::build("optimal", p, q, 0), ErrorCode::bad_input, "k must lie in");
  expect_error(spectr::Plan::build("optimal", {}, {}, 1), ErrorCode::bad_input, "p is NULL");
  const auto plan = spectr::Plan::build("optimal", p, q, 2).value();
  expect_error(plan.select(std::array<Token, 2>{0, 3}, {}), ErrorCode::bad_input,
               "drafts[1] must lie in [0, 2], got 3");
  expect_error(plan.conditional(std::array<Token, 1>{0}), ErrorCode::bad_input,
               "drafts must have 2 tokens, got 1");
  expect_error(plan.select({}, {}), ErrorCode::bad_input, "drafts must have 2 tokens, got 0");
}

TEST(CppPlan, MovesAndLeavesNothingBehind) {
  static_assert(!std::is_copy_constructible_v<spectr::Plan>);
  auto first = spectr::Plan::build("optimal", p, q, 2).value();
  const spectr::Plan second = std::move(first);
  EXPECT_NEAR(second.acceptance().value(), 29.0 / 36, 1e-12);
  EXPECT_EQ(first.drafts(), 0u);  // NOLINT(bugprone-use-after-move)
  expect_error(first.acceptance(), ErrorCode::bad_input, "plan is NULL");
}

TEST(CppVerifier, AChainIsATreeWithoutBranches) {
  const std::vector<Token> drafts = {0, 1};
  const std::vector<std::int32_t> parents = {-1, 0};
  const std::vector<double> draft = {0.5, 0.5, 0.25, 0.75};
  const std::vector<double> target = {0.25, 0.75, 0.5, 0.5, 1.0, 0.0};
  const std::vector<float> floats(target.begin(), target.end());
  const auto verifier = spectr::Verifier::create("block").value();
  EXPECT_TRUE(verifier.is_lossless());
  std::array<int, 4> lengths{};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto a = verifier.chain(2, drafts, draft, target, {.seed = seed}).value();
    const auto b =
        verifier.tree(2, {.tokens = drafts, .parents = parents, .draft_probs = draft}, floats, {.seed = seed})
            .value();
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.path.size() + 1, a.tokens.size());
    for (std::size_t i = 0; i < a.path.size(); ++i) EXPECT_EQ(a.tokens[i], drafts[a.path[i]]);
    ++lengths[a.tokens.size()];
  }
  EXPECT_GT(lengths[1], 0);
  EXPECT_GT(lengths[3], 0);
}

TEST(CppVerifier, RefusesArraysThatDoNotFit) {
  const auto verifier = spectr::Verifier::create("block").value();
  const std::vector<Token> drafts = {0};
  const std::vector<double> one = {0.5, 0.5}, three = {0.5, 0.5, 0.5};
  expect_error(verifier.chain(2, drafts, one, three, {}), ErrorCode::bad_input,
               "target_probs has 3 numbers, not a multiple of the vocabulary, 2");
  expect_error(verifier.chain(2, drafts, one, one, {}), ErrorCode::bad_input,
               "target_probs must have 2 rows");
  expect_error(verifier.chain(0, drafts, one, one, {}), ErrorCode::bad_input, "vocabulary");
  const std::vector<std::int32_t> parents = {-1, 0};
  expect_error(verifier.tree(2, {.tokens = drafts, .parents = parents, .draft_probs = one}, one, {}),
               ErrorCode::bad_input, "parents has 2 entries, but tokens has 1");
  expect_error(spectr::Verifier::create("mtad"), ErrorCode::bad_input, "mtad does not verify");
}

TEST(CppVerifier, IsCreatedForTheMethodsThatSaySo) {
  const auto methods = spectr::methods();
  EXPECT_GE(methods.size(), 14u);
  for (const spectr::MethodInfo& method : methods)
    EXPECT_EQ(spectr::Verifier::create(method.name).has_value(), method.verifies_arrays) << method.name;
  EXPECT_TRUE(
      std::ranges::any_of(methods, [](const auto& method) { return std::string(method.name) == "plain"; }));
}

TEST(CppLaw, OfALosslessMethodIsTheTargets) {
  const std::vector<double> draft = {0.5, 0.5, 0.2, 0.8}, target = {0.25, 0.75, 0.7, 0.3};
  const auto law =
      spectr::law("spectr", {.drafts = 2, .length = 2}, draft, target, {.vocabulary = 2, .horizon = 3})
          .value();
  EXPECT_NEAR(law.tv_error, 0.0, 1e-12);
  EXPECT_GT(law.block_efficiency, 1.0);
  ASSERT_EQ(law.distribution.size(), 8u);
  EXPECT_NEAR(law.distribution[3], 0.25 * 0.75 * 0.3, 1e-12);  // the sequence 0 1 1 after 0
}

TEST(CppLaw, RefusesTablesAndRangesThatDoNotFit) {
  const std::vector<double> table = {0.5, 0.5, 0.5, 0.5};
  expect_error(spectr::law("block", {}, table, p, {.vocabulary = 2, .horizon = 2}), ErrorCode::bad_input,
               "got 4 and 3");
  expect_error(spectr::law("block", {}, table, table, {.vocabulary = 2, .horizon = 64}), ErrorCode::bad_input,
               "horizon 64");
  expect_error(spectr::law("block", {}, table, table, {.vocabulary = 0, .horizon = 2}), ErrorCode::bad_input,
               "vocabulary");
  expect_error(spectr::law("none", {}, table, table, {.vocabulary = 2, .horizon = 2}), ErrorCode::bad_input,
               "none");
}

TEST(CppVersion, IsThatOfTheCInterface) {
  EXPECT_STREQ(spectr::version(), spectr_version());
  EXPECT_EQ(std::count(spectr::version(), spectr::version() + std::strlen(spectr::version()), '.'), 2);
}

}  // namespace
