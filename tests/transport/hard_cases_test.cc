// Numerically hard cases for transport plans, each tested for every applicable lossless plan of the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "spectr/base/counter_random.h"
#include "spectr/transport/acceptance_bounds.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

// Builds every lossless plan for (p, k) and passes it to `check`. Excludes the reference program over tuples,
// which supports only tiny alphabets and whose acceptance has its solver's tolerance.
template <class Check>
void for_every_plan(const Distribution& p, const Distribution& q, std::size_t k, Check check) {
  for (const PlanRule& rule : plan_rules()) {
    if (!rule.lossless || rule.max_tuples > 0.0) continue;
    SCOPED_TRACE(std::string(rule.name) + ", k = " + std::to_string(k));
    const auto plan = rule.build({p, k}, q, {});
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    check(**plan);
  }
}

void expect_exact(const Distribution& p, const Distribution& q, std::size_t k) {
  for_every_plan(p, q, k, [&](const TransportPlan& plan) {
    EXPECT_LE(distance(enumerate_distribution(plan, q.vocabulary()), q), 1e-12);
    EXPECT_LE(worst_conditional(plan, q.vocabulary()), 1e-12);
    EXPECT_NEAR(enumerate_acceptance(plan), plan.acceptance(), 1e-12);
    EXPECT_GE(plan.acceptance(), 0.0);
    EXPECT_LE(plan.acceptance(), 1.0);
  });
}

TEST(HardCases, EqualDistributionsAreAcceptedAndHaveNoResidual) {
  const Distribution p = distribution({0.1, 0.2, 0.7});
  expect_exact(p, p, 3);
  for_every_plan(p, p, 3, [](const TransportPlan& plan) {
    EXPECT_EQ(plan.acceptance(), 1.0);
    EXPECT_FALSE(plan.residual().has_value());
  });
}

// A distribution with scaled weights: its probabilities differ by units in the last place.
TEST(HardCases, NearlyEqualDistributionsHaveNoNoiseForAResidual) {
  const Distribution p = distribution({0.1, 0.2, 0.3, 0.4}), q = distribution({0.3, 0.6, 0.9, 1.2});
  expect_exact(p, q, 2);
  for_every_plan(p, q, 5, [](const TransportPlan& plan) {
    EXPECT_NEAR(plan.acceptance(), 1.0, 1e-14);
    EXPECT_FALSE(plan.residual().has_value());
  });
}

TEST(HardCases, ARejectionBelowRoundingLeavesNoResidual) {
  const Distribution p = distribution({1e-10, 1.0 - 1e-10}), q = distribution({0, 1});
  const auto plan = find_plan("optimal").value()->build({p, 2}, q, {}).value();
  EXPECT_EQ(plan->acceptance(), 1.0);
  EXPECT_FALSE(plan->residual().has_value());
}

TEST(HardCases, DisjointSupportsAcceptNothingAndDrawTheTarget) {
  const Distribution p = distribution({0.4, 0.6, 0, 0}), q = distribution({0, 0, 0.25, 0.75});
  expect_exact(p, q, 2);
  for_every_plan(p, q, 2, [&](const TransportPlan& plan) {
    EXPECT_EQ(plan.acceptance(), 0.0);
    const auto residual = plan.residual();
    EXPECT_LE(total_variation(residual.value_or(q), q), 1e-15);
  });
}

TEST(HardCases, DisjointShortSupportsAreExact) {
  const Distribution p = Distribution::from_weights({1, 7}, {1, 3}, 50'000);
  const Distribution q = Distribution::from_weights({0, 3, 49'999}, {2, 1, 1}, 50'000);
  expect_exact(p, q, 2);
}

TEST(HardCases, ZerosInEitherDistributionAreExact) {
  expect_exact(distribution({0.5, 0, 0.5, 0}), distribution({0.25, 0.25, 0, 0.5}), 3);
  expect_exact(distribution({0.25, 0.25, 0, 0.5}), distribution({0.5, 0, 0.5, 0}), 3);
}

TEST(HardCases, AVocabularyOfOneTokenIsExact) {
  expect_exact(distribution({1}), distribution({1}), 4);
}

TEST(HardCases, PointMassDraftRepeatsOneToken) {
  expect_exact(Distribution::point(1, 3), distribution({0.5, 0.3, 0.2}), 3);
}

TEST(HardCases, APointMassTargetIsExact) {
  expect_exact(distribution({0.5, 0.3, 0.2}), Distribution::point(1, 3), 3);
}

TEST(HardCases, DifferentPointMassesAreExact) {
  expect_exact(Distribution::point(0, 2), Distribution::point(1, 2), 3);
}

// The draft never proposes the token that the target nearly always takes: ρ* = k up to rounding.
TEST(HardCases, TheLargestDivisionFactorAcceptsNextToNothing) {
  const Distribution p = distribution({1e-12, 1.0}), q = distribution({1.0, 0.0});
  expect_exact(p, q, 3);
  for (const char* name : {"k-seq", "str+", "optimal"}) {
    const auto rule = find_plan(name);
    EXPECT_NEAR((*rule)->build({p, 3}, q, {}).value()->acceptance(), 3e-12, 1e-15) << name;
  }
}

TEST(HardCases, MassesDownToTheSmallestNumbersAreExact) {
  expect_exact(distribution({1.0, 1e-300, 1e-200}), distribution({1e-300, 1.0, 1e-150}), 3);
  expect_exact(distribution({1.0, 1e-300, 1e-300}), distribution({1.0, 1e-300, 0.0}), 3);
  expect_exact(distribution({0.5, 0.5, 1e-308}), distribution({0.2, 0.8, 5e-324}), 3);
}

TEST(HardCases, WithoutReplacementTheRestIsDrawnOnceTheLikelyTokenIsGone) {
  const Distribution p = distribution({1.0, 1e-300, 3e-300}), q = distribution({0.0, 0.5, 0.5});
  expect_exact(p, q, 2);
  const auto plan = find_plan("recursive-wor").value()->build({p, 2}, q, {}).value();
  EXPECT_NEAR(plan->acceptance(), 0.75,
              1e-12);  // the second draft has distribution (1/4, 3/4) on tokens 1, 2
}

TEST(HardCases, SubnormalMassesAreLeftToDraw) {
  expect_exact(distribution({1.0, 3.016097934134e-311, 1.1095604225276e-311}), distribution({0.5, 0.3, 0.2}),
               2);
  expect_exact(distribution({1.0, 1e-310, 3e-311, 5e-324}), distribution({0.1, 0.3, 0.2, 0.4}), 3);
  expect_exact(distribution({1.0, 1e-310, 5e-324}), distribution({0.6, 0.0, 0.4}), 2);
}

// For masses of a few quanta, every product is rounded to an integral number of quanta.
TEST(HardCases, MassesOfAFewQuantaAreExact) {
  constexpr double quantum = 5e-324;
  RandomDistributions random(14);
  const auto masses = [&](std::size_t vocabulary) {
    std::vector<double> weights(vocabulary);
    for (double& w : weights) {
      w = random.uniform() < 0.5 ? random.uniform() : quantum * static_cast<double>(random.below(4));
      if (random.uniform() < 0.3) w *= 250.0;
    }
    weights[random.below(vocabulary)] = 1.0;
    return distribution(weights);
  };
  for (int n = 0; n < 1000; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 2 + random.below(4), k = 1 + random.below(3);
    expect_exact(masses(vocabulary), masses(vocabulary), k);
  }
  expect_exact(distribution({0.15085371652570656, 0, 0.38641363027286657, quantum, 0.46273265320142687}),
               distribution({0.2, 0.2, 0.2, 0.2, 0.2}), 4);
  expect_exact(distribution({0.26168572763594455, quantum, 0.23399974433273296, 0.34794041817778792,
                             0.15637410985353448}),
               distribution({0.50343143421153502, 2 * quantum, 0.43119652314161594, 0.065372042646848955,
                             2 * quantum}),
               3);
}

TEST(HardCases, MoreDraftsThanTheSupportAreExact) {
  const Distribution p = distribution({0.5, 0.5, 0}), q = distribution({0.2, 0.3, 0.5});
  expect_exact(p, q, 4);
  EXPECT_EQ(find_plan("recursive-wor").value()->build({p, 4}, q, {}).value()->drafts(), 2u);
}

TEST(HardCases, DuplicatedDraftsKeepTheirNumber) {
  const Distribution p = distribution({0.9, 0.1}), q = distribution({0.5, 0.5});
  for_every_plan(p, q, 3, [](const TransportPlan& plan) {
    if (plan.drafts() < 3) return;
    const std::vector<Token> same = {0, 0, 0};
    EXPECT_LE(distance(enumerate_select(plan, same, 2), plan.conditional(same)), 1e-12);
  });
}

TEST(HardCases, SixtyFourDraftsAreExact) {
  RandomDistributions random(12);
  for (int n = 0; n < 10; ++n) {
    const Distribution p = random.any(5), q = random.any(5);
    for_every_plan(p, q, 64, [&](const TransportPlan& plan) {
      std::vector<Token> drafts(plan.drafts());
      CounterRandom choices(12);
      plan.draw(drafts, choices);
      const Distribution given = plan.conditional(drafts);
      EXPECT_GT(given[plan.select(drafts, choices).token], 0.0);
      EXPECT_GE(plan.acceptance(), 0.0);
      EXPECT_LE(plan.acceptance(), 1.0);
    });
    for (const char* name : {"k-seq", "recursive", "recursive-wor", "optimal"}) {
      const auto plan = find_plan(name).value()->build({p, 64}, q, {}).value();
      std::vector<Token> drafts(plan->drafts());
      CounterRandom choices(12, 1);
      plan->draw(drafts, choices);
      EXPECT_LE(distance(enumerate_select(*plan, drafts, 5), plan->conditional(drafts)), 1e-12) << name;
    }
  }
}

// 200,000 tokens; each distribution has a support of three in five.
class ManyTokens : public ::testing::Test {
 protected:
  RandomDistributions random{13};
  const Distribution p = thinned(), q = thinned();

 private:
  Distribution thinned() {
    std::vector<double> weights(200'000);
    for (double& w : weights) w = random.uniform() < 0.4 ? 0.0 : random.uniform();
    return distribution(std::move(weights));
  }
};

TEST_F(ManyTokens, AreDrawnAndAnsweredWithinTheSupports) {
  for_every_plan(p, q, 3, [&](const TransportPlan& plan) {
    std::vector<Token> drafts(plan.drafts());
    for (std::uint64_t n = 0; n < 3; ++n) {
      CounterRandom choices(13, n);
      plan.draw(drafts, choices);
      for (Token x : drafts) EXPECT_GT(p[x], 0.0);
      EXPECT_GT(q[plan.select(drafts, choices).token], 0.0);
    }
  });
}

TEST_F(ManyTokens, AreAcceptedInTheOrderOfThePlans) {
  const auto acceptance = [&](std::string_view name) {
    return find_plan(name).value()->build({p, 3}, q, {}).value()->acceptance();
  };
  EXPECT_NEAR(acceptance("maximal"), 1.0 - total_variation(p, q), 1e-13);
  double last = acceptance("maximal");
  for (const char* name : {"recursive", "k-seq", "str+", "str++", "optimal"}) {
    const double next = acceptance(name);
    EXPECT_GE(next, last - 1e-13) << name;
    last = next;
  }
  EXPECT_NEAR(last, optimal_acceptance(p, q, 3), 1e-13);
}

// The precision of sums must not decrease with the number of tokens.
TEST(HardCases, LargeUniformDistributionsHaveTheirClosedForm) {
  constexpr std::size_t all = 150'000, some = 21'428;
  std::vector<double> weights(all, 0.0);
  std::fill_n(weights.begin(), some, 1.0);
  const Distribution p = distribution(std::vector<double>(all, 1.0)), q = distribution(weights);
  for (const std::size_t k : {2u, 4u}) {
    const double expected = uniform_acceptance(static_cast<double>(all) / some, k);
    for (const char* name : {"k-seq", "recursive", "str+", "str++", "optimal"}) {
      SCOPED_TRACE(name);
      const auto plan = find_plan(name).value()->build({p, k}, q, {}).value();
      EXPECT_NEAR(plan->acceptance(), expected, 1e-13);
      EXPECT_FALSE(plan->parameters().contains("fallback"));
    }
  }
}

// There are four million outcomes, whose probabilities span four orders of magnitude.
TEST(HardCases, ManyOutcomesKeepTheDigitsOfTheirSum) {
  std::vector<double> weights(21, 0.01 / 20);
  weights[0] = 0.99;
  const Distribution p = distribution(std::vector<double>(21, 1.0)), q = distribution(weights);
  const auto plan = find_plan("maximal").value()->build({p, 4}, q, {}).value();
  EXPECT_LE(distance(enumerate_distribution(*plan, 21), q), 1e-14);
}

// This violates the precondition. Plans that look a draft up in a table refuse it; the others never accept
// it, whether the target has the token or not.
TEST(HardCases, DraftsOfProbabilityZeroAreRefusedOrNeverAccepted) {
  const Distribution p = distribution({1, 1, 0, 0, 0}), q = distribution({0.2, 0.3, 0.25, 0.25, 0});
  for (const PlanRule& rule : plan_rules()) {
    SCOPED_TRACE(rule.name);
    const auto plan = rule.build({p, rule.max_drafts == 1 ? 1u : 2u}, q, {.epsilon = 0.1}).value();
    for (const Token x : {2, 4}) {
      const std::vector<Token> drafts(plan->drafts(), x);
      CounterRandom choices(14);
      if (rule.name == "optimal" || rule.max_tuples > 0.0) {
        EXPECT_THROW(plan->select(drafts, choices), BrokenContract);
        continue;
      }
      const Selection y = plan->select(drafts, choices);
      EXPECT_FALSE(y.accepted);
      EXPECT_GT(q[y.token], 0.0);
    }
  }
}

TEST(HardCases, DistributionsWhoseSumsAreOffByRounding) {
  const auto above = Distribution::dense({0.5, 0.5 + 1e-7}), below = Distribution::dense({0.5, 0.5 - 1e-7});
  expect_exact(above.value(), below.value(), 2);
}

TEST(HardCases, MaximalCouplingUsesTheFirstDraftOnly) {
  const Distribution p = distribution({3, 2, 1}), q = distribution({1, 2, 3});
  const auto plan = find_plan("maximal").value()->build({p, 3}, q, {}).value();
  EXPECT_NEAR(plan->acceptance(), 2.0 / 3.0, 1e-15);
  const auto found = enumerate_distribution(*plan, 3);
  for (Token x = 0; x < 3; ++x) EXPECT_NEAR(found[static_cast<std::size_t>(x)], q[x], 1e-15);
}

TEST(HardCases, SingleDraftPlansRefuseMore) {
  const Distribution p = distribution({1, 1});
  for (const char* name : {"epsilon-opt", "epsilon-uno"}) {
    const auto plan = find_plan(name).value()->build({p, 3}, p, {});
    ASSERT_FALSE(plan.has_value());
    EXPECT_EQ(plan.error().message, std::string(name) + " takes one draft, got k = 3");
  }
}

}  // namespace
}  // namespace spectr
