// The production sampling path at a realistic vocabulary size.
#include <gtest/gtest.h>

#include <algorithm>

#include "spectr/base/counter_random.h"
#include "spectr/transport/plans.h"
#include "tests/support/chi_square.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

/// A draft distribution, a target distribution, and a test of counts against the target.
struct Case {
  Distribution p, q;
  std::vector<Token> order;  // by p/q, so that errors of one sign are adjacent

  static Case random(std::size_t vocabulary) {
    RandomDistributions distributions(19);
    Case c{distributions.dense(vocabulary), distributions.dense(vocabulary), {}};
    for (std::size_t x = 0; x < vocabulary; ++x) c.order.push_back(static_cast<Token>(x));
    // p/(p + q) increases with p/q; tokens with probability 0 in both come last.
    const auto share = [&](Token x) { return c.p[x] + c.q[x] > 0.0 ? c.p[x] / (c.p[x] + c.q[x]) : 2.0; };
    std::ranges::stable_sort(c.order, {}, share);
    return c;
  }

  /// Returns the smaller p-value of two chi-square tests: with cells as fine as the counts allow, and
  /// with 64 cells of about equal mass.
  double p_value(const std::vector<std::uint64_t>& counts) const {
    std::vector<std::uint64_t> fine, coarse(64, 0);
    std::vector<double> fine_distribution, coarse_distribution(64, 0.0);
    double below = 0.0;
    for (const Token x : order) {
      fine.push_back(counts[static_cast<std::size_t>(x)]);
      fine_distribution.push_back(q[x]);
      const auto cell = std::min<std::size_t>(63, static_cast<std::size_t>(64.0 * below));
      coarse[cell] += fine.back();
      coarse_distribution[cell] += q[x];
      below += q[x];
    }
    return std::min(chi_square_p_value(fine, fine_distribution),
                    chi_square_p_value(coarse, coarse_distribution));
  }
};

constexpr std::size_t vocabulary = 4096;
constexpr std::uint64_t many = 40'000, few = 8'000;  // few if draws are expensive
constexpr double false_alarm = 1e-6;                 // per plan; half of it for each test

TEST(SampledDistribution, IsTheTargetAtFourThousandTokens) {
  const Case c = Case::random(vocabulary);
  for (const PlanRule& rule : plan_rules()) {
    if (!rule.lossless || rule.max_tuples > 0.0) continue;
    const auto plan = rule.build({c.p, 3}, c.q, {}).value();
    std::vector<std::uint64_t> counts(vocabulary, 0);
    std::vector<Token> drafts(plan->drafts());
    double accepted = 0.0;
    const std::uint64_t draws = rule.name == "recursive-wor" ? few : many;
    for (std::uint64_t n = 0; n < draws; ++n) {
      CounterRandom choices(19, n);
      choices.enter({.purpose = Purpose::draft});
      plan->draw(drafts, choices);
      choices.enter({.purpose = Purpose::select});
      const Selection y = plan->select(drafts, choices);
      ++counts[static_cast<std::size_t>(y.token)];
      accepted += y.accepted;
    }
    EXPECT_GT(c.p_value(counts), 0.5 * false_alarm) << rule.name;
    // The tolerance is six standard deviations of a share: 2e-9.
    const double share = accepted / static_cast<double>(draws);
    if (!std::isnan(plan->acceptance())) {
      EXPECT_NEAR(share, plan->acceptance(), 6.0 * 0.5 / std::sqrt(static_cast<double>(draws))) << rule.name;
    }
  }
}

// Checks the test itself: a distribution at this distance from the target, towards the draft, is
// detected with the same number of draws.
TEST(SampledDistribution, ADistributionNearTheTargetIsFoundOut) {
  const Case c = Case::random(vocabulary);
  for (const auto& [draws, distance] : {std::pair{few, 0.1}, {many, 0.05}}) {
    const double share = distance / total_variation(c.p, c.q);
    std::vector<double> distribution(vocabulary);
    for (std::size_t x = 0; x < vocabulary; ++x) {
      distribution[x] = share * c.p.probabilities()[x] + (1.0 - share) * c.q.probabilities()[x];
    }
    std::vector<std::uint64_t> counts(vocabulary, 0);
    CounterRandom choices(19, 0);
    choices.enter({.purpose = Purpose::select});
    for (std::uint64_t n = 0; n < draws; ++n) ++counts[choices.draw(distribution)];
    EXPECT_LT(c.p_value(counts), 0.5 * false_alarm) << draws << " draws, TV " << distance;
  }
}

// Checks the test itself: a distribution that is off by one part in twenty is detected.
TEST(SampledDistribution, ABiasedCountIsFoundOut) {
  const std::vector<double> coin = {0.5, 0.5};
  EXPECT_GT(chi_square_p_value(std::vector<std::uint64_t>{5030, 4970}, coin), 1e-6);
  EXPECT_LT(chi_square_p_value(std::vector<std::uint64_t>{5250, 4750}, coin), 1e-6);
  EXPECT_EQ(chi_square_p_value(std::vector<std::uint64_t>{1, 9}, std::vector<double>{0.0, 1.0}), 0.0);
}

TEST(SampledDistribution, ChiSquareTailsMatchTables) {
  EXPECT_NEAR(upper_gamma(0.5, 0.5 * 3.841458820694124), 0.05, 1e-12);  // 1 degree of freedom
  EXPECT_NEAR(upper_gamma(50.0, 0.5 * 124.3421134), 0.05, 1e-9);        // 100 degrees
  EXPECT_NEAR(upper_gamma(1.0, 2.0), std::exp(-2.0), 1e-14);
}

}  // namespace
}  // namespace spectr
