// The real sampling path at a real vocabulary size.
#include <gtest/gtest.h>

#include "spectr/base/counter_random.h"
#include "spectr/transport/plans.h"
#include "tests/support/chi_square.h"
#include "tests/transport/laws.h"

namespace spectr {
namespace {

using namespace test;

// False-alarm rate 1e-6 per plan.
TEST(SampledLaw, IsTheTargetAtFourThousandTokens) {
  constexpr std::size_t vocabulary = 4096;
  constexpr std::uint64_t draws = 2'000;
  RandomLaws random(19);
  const Distribution p = random.dense(vocabulary), q = random.dense(vocabulary);
  const std::vector<double> target(q.probabilities().begin(), q.probabilities().end());
  for (const PlanRule& rule : plan_rules()) {
    if (!rule.lossless || rule.name == "otm-lp") continue;
    const auto plan = rule.build({p, rule.most_drafts == 1 ? 1u : 3u}, q, {}).value();
    std::vector<std::uint64_t> counts(vocabulary, 0);
    std::vector<Token> drafts(plan->drafts());
    double accepted = 0.0;
    for (std::uint64_t n = 0; n < draws; ++n) {
      CounterRandom choices(19, n);
      choices.enter({.purpose = Purpose::draft});
      plan->draw(drafts, choices);
      choices.enter({.purpose = Purpose::select});
      const Selection y = plan->select(drafts, choices);
      ++counts[static_cast<std::size_t>(y.token)];
      accepted += y.accepted;
    }
    EXPECT_GT(chi_square_p_value(counts, target), 1e-6) << rule.name;
    // Six standard deviations of a share: 2e-9.
    const double share = accepted / static_cast<double>(draws);
    if (!std::isnan(plan->acceptance())) {
      EXPECT_NEAR(share, plan->acceptance(), 6.0 * 0.5 / std::sqrt(static_cast<double>(draws))) << rule.name;
    }
  }
}

// The test of the test: a law that is off by one part in twenty is found out.
TEST(SampledLaw, ABiasedCountIsFoundOut) {
  const std::vector<double> coin = {0.5, 0.5};
  EXPECT_GT(chi_square_p_value(std::vector<std::uint64_t>{5030, 4970}, coin), 1e-6);
  EXPECT_LT(chi_square_p_value(std::vector<std::uint64_t>{5250, 4750}, coin), 1e-6);
  EXPECT_EQ(chi_square_p_value(std::vector<std::uint64_t>{1, 9}, std::vector<double>{0.0, 1.0}), 0.0);
}

TEST(SampledLaw, ChiSquareTailsMatchTables) {
  EXPECT_NEAR(upper_gamma(0.5, 0.5 * 3.841458820694124), 0.05, 1e-12);  // 1 degree of freedom
  EXPECT_NEAR(upper_gamma(50.0, 0.5 * 124.3421134), 0.05, 1e-9);        // 100 degrees
  EXPECT_NEAR(upper_gamma(1.0, 2.0), std::exp(-2.0), 1e-14);
}

}  // namespace
}  // namespace spectr
