// STr+ and STr++ compared with exact answers and a brute-force solution of their program, and hard inputs.
#include "spectr/transport/plans/spectr_plus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spectr/base/enumerator.h"
#include "spectr/transport/acceptance_bounds.h"
#include "spectr/transport/plan.h"
#include "spectr/transport/plans/generalised_k_seq.h"
#include "spectr/transport/plans/k_seq.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;
using ::testing::DoubleNear;
using ::testing::Pointwise;

std::vector<double> numbers(const TransportPlan& plan, const std::string& name) {
  return std::get<std::vector<double>>(plan.parameters().at(name));
}

double number(const TransportPlan& plan, const std::string& name) {
  return std::get<double>(plan.parameters().at(name));
}

// iOPT with T rounds lies between STr⁺ (T = 1) and STr⁺⁺, and needs at most k V rounds (Theorem 3).
TEST(SpectrPlus, RoundsLeadFromOneToTheOtherAndAreFew) {
  RandomDistributions random(77);
  for (int n = 0; n < 60; ++n) {
    const std::size_t vocabulary = 2 + random.below(7), k = 2 + random.below(4);
    const bool tiny = std::pow(static_cast<double>(vocabulary), static_cast<double>(k)) <= 300.0;
    const Distribution p = random.dense(vocabulary), q = random.dense(vocabulary);
    const auto end = build_str_plus_plus({p, k}, q, {}).value();
    EXPECT_LE(number(*end, "iterations"), static_cast<double>(k * vocabulary));
    double last = build_k_seq({p, k}, q, {}).value()->acceptance();
    for (int rounds = 1; rounds <= 6; ++rounds) {
      const auto plan = build_str_plus({p, k}, q, {.rounds = rounds}).value();
      EXPECT_GE(plan->acceptance(), last - 1e-10);
      EXPECT_LE(plan->acceptance(), end->acceptance() + 1e-10);
      if (tiny) {
        EXPECT_LE(distance(enumerate_distribution(*plan, vocabulary), q), 1e-11);
      }
      last = plan->acceptance();
      if (rounds >= number(*end, "iterations")) {
        EXPECT_EQ(last, end->acceptance());
      }
    }
  }
  const Distribution p = distribution({1, 1});
  EXPECT_FALSE(build_str_plus({p, 2}, p, {.rounds = 0}).has_value());
}

TEST(SpectrPlus, FactorsMatchGoldenValues) {
  const Distribution p = distribution({3, 2, 1}), q = distribution({1, 2, 3});
  for (const auto build : {build_str_plus, build_str_plus_plus}) {
    const auto plan = build({p, 2}, q, {}).value();
    EXPECT_NEAR(plan->acceptance(), 7.0 / 9.0, 1e-12);
    EXPECT_THAT(numbers(*plan, "alphas"), Pointwise(DoubleNear(1e-9), {1.0 / 3.0, 1.0}));
    EXPECT_THAT(numbers(*plan, "u"), Pointwise(DoubleNear(1e-9), {4.0 / 6.0, 2.0 / 9.0}));
    EXPECT_NEAR(number(*plan, "rho"), 1.5, 1e-12);
    EXPECT_FALSE(plan->parameters().contains("fallback"));
  }
}

TEST(SpectrPlus, HasNotFailedWhereNothingIsLeftToWin) {
  // k-Seq rejects hardly anything here: less than the solver's tolerance.
  const std::vector close = {0.4998750312421895, 0.5001249687578105};
  const Distribution p = Distribution::dense(close, "p").value(),
                     q = Distribution::dense(std::vector{0.49975012493753124, 0.5002498750624688}, "q")
                             .value();
  for (const auto build : {build_str_plus, build_str_plus_plus}) {
    const auto plan = build({p, 6}, q, {}).value();
    EXPECT_FALSE(plan->parameters().contains("fallback"));
    EXPECT_NEAR(plan->acceptance(), 1.0, 1e-9);
  }
}

TEST(SpectrPlus, ReachesTheOptimumWhereTheSecondTestIsCertain) {
  const Distribution p = distribution({1, 1}), q = distribution({1, 3});
  const auto plan = build_str_plus({p, 2}, q, {}).value();
  EXPECT_NEAR(plan->acceptance(), 1.0, 1e-12);
  EXPECT_THAT(numbers(*plan, "alphas"), Pointwise(DoubleNear(1e-9), {0.0, 2.0}));
  EXPECT_NEAR(1.0 / number(*plan, "rho"), 0.7639320225, 1e-9);
}

// Drafts that are never reached are not tested; among the optima, the last test has the largest factor.
TEST(SpectrPlus, OfTheOptimaTheLaterTestsBearTheMost) {
  const Distribution p = distribution({2, 1, 1});
  const auto plan = build_str_plus({p, 3}, p, {}).value();
  EXPECT_NEAR(plan->acceptance(), 1.0, 1e-12);
  EXPECT_THAT(numbers(*plan, "alphas"), Pointwise(DoubleNear(1e-9), {0.0, 0.0, 1.0}));
}

// For k = 2 and k-Seq's sets the cost is a function of α₁ only: u₂ = u₁ (p(Ω) − α₂ q(Ω)) with the largest α₂
// that all constraints allow. This scans all α₁.
double best_by_scan(const Distribution& p, const Distribution& q, double rho) {
  double p_inside = 0.0, q_inside = 0.0, gamma = std::numeric_limits<double>::infinity(), outside = 0.0;
  for (Token x = 0; x < static_cast<Token>(p.vocabulary()); ++x) {
    if (p[x] == 0.0 && q[x] == 0.0) continue;
    if (p[x] >= q[x] / rho * (1.0 - 1e-12)) {
      p_inside += p[x];
      q_inside += q[x];
      if (q[x] > 0.0) gamma = std::min(gamma, p[x] / q[x]);
    } else {
      outside = std::max(outside, p[x] / q[x]);
    }
  }
  if (q_inside == 0.0) gamma = 0.0;
  double best = 1.0;
  constexpr int steps = 20'000;
  for (int n = 0; n <= steps; ++n) {
    const double alpha_1 = gamma * n / steps, u_1 = p_inside - alpha_1 * q_inside;
    if (alpha_1 > 1.0 || outside * (1.0 + u_1) > 1.0 + 1e-12) continue;
    const double alpha_2 = u_1 > 0.0 ? std::min(gamma, (1.0 - alpha_1) / u_1) : 0.0;
    best = std::min(best, u_1 * (p_inside - alpha_2 * q_inside));
  }
  return 1.0 - best;
}

TEST(SpectrPlus, AgreesWithAScanOfTheFirstFactor) {
  RandomDistributions random(41);
  for (int n = 0; n < 60; ++n) {
    SCOPED_TRACE(n);
    const Distribution p = random.dense(5), q = random.dense(5);
    const auto plan = build_str_plus({p, 2}, q, {}).value();
    const double scanned = best_by_scan(p, q, number(*plan, "rho"));
    EXPECT_GE(plan->acceptance(), scanned - 1e-9);
    EXPECT_NEAR(plan->acceptance(), scanned, 1e-3);
  }
}

TEST(SpectrPlus, MoreRoundsNeverCostAndStayBelowTheOptimum) {
  RandomDistributions random(42);
  double max_rounds = 0.0;
  for (int n = 0; n < 150; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 2 + random.below(30), k = 2 + random.below(4);
    const Distribution p = random.dense(vocabulary), q = random.dense(vocabulary);
    const auto one = build_str_plus({p, k}, q, {}).value(), all = build_str_plus_plus({p, k}, q, {}).value();
    EXPECT_EQ(number(*one, "iterations"), 1.0);
    EXPECT_GE(all->acceptance(), one->acceptance() - 1e-10);
    EXPECT_LE(all->acceptance(), optimal_acceptance(p, q, k) + 1e-12);
    max_rounds = std::max(max_rounds, number(*all, "iterations"));
  }
  EXPECT_GT(max_rounds, 2.0);
}

// Equal distributions passed as one object and as k objects use different ways of building the program.
TEST(SpectrPlus, GroupedConstraintsEqualConstraintsByNeed) {
  RandomDistributions random(43);
  for (int n = 0; n < 60; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 2 + random.below(20), k = 2 + random.below(3);
    const Distribution p = random.dense(vocabulary), q = random.dense(vocabulary);
    const std::vector<Distribution> copies(k, p);
    const auto grouped = build_str_plus({p, k}, q, {}).value(),
               by_need = build_str_plus(several(copies), q, {}).value();
    EXPECT_NEAR(grouped->acceptance(), by_need->acceptance(), 1e-9);
  }
}

TEST(SpectrPlus, HardInputsAreExactWithOrWithoutTheSolver) {
  RandomDistributions random(44);
  for (int n = 0; n < 200; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 2 + random.below(4), k = 2 + random.below(2);
    std::vector<double> p(vocabulary), q(vocabulary);
    for (double& w : p) w = std::exp(-690.0 * random.uniform());
    for (double& w : q) w = std::exp(-690.0 * random.uniform());
    const Distribution p_distribution = distribution(p), q_distribution = distribution(q);
    const auto plan = build_str_plus_plus({p_distribution, k}, q_distribution, {}).value();
    EXPECT_LE(distance(enumerate_distribution(*plan, vocabulary), q_distribution), 1e-12);
    EXPECT_NEAR(enumerate_acceptance(*plan), plan->acceptance(), 1e-12);
  }
}

/// The acceptances of k-Seq, STr+ and STr++ for drafts from several distributions.
struct Acceptances {
  double k_seq, one, all;
};

Acceptances acceptances(const std::vector<Distribution>& p, const Distribution& q) {
  return {build_k_seq(several(p), q, {}).value()->acceptance(),
          build_str_plus(several(p), q, {}).value()->acceptance(),
          build_str_plus_plus(several(p), q, {}).value()->acceptance()};
}

TEST(SpectrPlus, VoidMassesDoNotSpoilTheProgram) {
  const Acceptances a = acceptances(
      {distribution({0.20041736532074975, 0.32824349085152354, 0.2795253517025836, 0.1918137921251431}),
       distribution({1, 3.495403151330053e-91, 1.2160310111189725e-260, 1.695102623878568e-236}),
       distribution({0.9999999989999999, 9.99999999e-10, 9.99999999e-18, 9.999999989999999e-301})},
      distribution({0, 0.4, 0.2, 0.4}));
  EXPECT_NEAR(a.one, 0.72006, 1e-5);
  EXPECT_GE(a.all, a.one - 1e-12);
  const Acceptances b = acceptances(
      {distribution({0.6194005469223436, 0, 0.1387301376074628, 0.24186931547019358}),
       distribution({0.0037159990293109866, 0.370668629657997, 0.0005499765220207878, 0.6250653947906711}),
       distribution({0, 0, 0, 1})},
      distribution({0.5, 0.5, 5e-301, 0}));
  EXPECT_NEAR(b.one, 0.68603, 1e-5);
  EXPECT_GE(b.all, b.one - 1e-12);
}

TEST(SpectrPlus, IsNeverBelowKSeqHoweverUnequalTheMasses) {
  RandomDistributions random(45);
  for (int n = 0; n < 400; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 3 + random.below(6), k = 2 + random.below(3);
    const auto unequal = [&] {
      std::vector<double> masses(vocabulary);
      for (double& w : masses) w = std::pow(10.0, -30.0 * random.uniform());
      return distribution(std::move(masses));
    };
    std::vector<Distribution> p;
    for (std::size_t i = 0; i < k; ++i) p.push_back(unequal());
    const Acceptances a = acceptances(p, unequal());
    EXPECT_LE(a.k_seq - 1e-12, a.one);
    EXPECT_LE(a.one, a.all + 1e-12);
    EXPECT_LE(a.all, 1.0);
  }
}

// Tests that accept too much of a token are confirmed less often, so the distribution stays exact.
TEST(GeneralisedKSeq, FactorsThatAreTooLargeCostAcceptanceNotExactness) {
  const Distribution p = distribution({3, 2, 1}), q = distribution({1, 2, 3});
  const DraftDistributions drafts(p, 2);
  const DistributionUnion distributions(drafts, q);
  const GeneralisedTests tests{.alpha = {0.4, 1.0}, .bound = {0.6, 0.6}};
  GeneralisedOutcome made = outcome(distributions, tests);
  EXPECT_GT(made.excess, 1.0 + 1e-3);
  const double expected = (1.0 - made.u.back()) / made.excess;
  const GeneralisedKSeq plan(drafts, q, DistributionUnion(drafts, q), tests, std::move(made), {});
  EXPECT_NEAR(plan.acceptance(), expected, 1e-15);
  EXPECT_NEAR(enumerate_acceptance(plan), expected, 1e-12);
  EXPECT_LE(distance(enumerate_distribution(plan, 3), q), 1e-14);
  EXPECT_LE(worst_conditional(plan, 3), 1e-14);
}

}  // namespace
}  // namespace spectr
