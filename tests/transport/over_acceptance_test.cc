#include "spectr/transport/plans/over_acceptance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "spectr/transport/plan.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

double number(const TransportPlan& plan, const char* name) {
  return std::get<double>(plan.parameters().at(name));
}

double bias(const TransportPlan& plan, const Distribution& q) {
  return total_variation(distribution(enumerate_distribution(plan, q.vocabulary())), q);
}

// Returns the distribution by the formulas of section 4 of the paper.
std::vector<double> stated_distribution(const Distribution& p, const Distribution& q, double epsilon,
                                        bool opt) {
  std::vector<double> accepted, correction;
  double rejection = 1.0, total = 0.0;
  for (Token x = 0; static_cast<std::size_t>(x) < q.vocabulary(); ++x) {
    accepted.push_back(std::min(p[x], q[x] + epsilon));
    correction.push_back(opt ? std::max(0.0, q[x] - p[x]) : q[x]);
    rejection -= accepted.back();
    total += correction.back();
  }
  for (std::size_t x = 0; x < accepted.size(); ++x) {
    if (total > 0.0) accepted[x] += rejection * correction[x] / total;
  }
  return accepted;
}

TEST(OverAcceptance, ProducesItsStatedDistribution) {
  RandomDistributions random(15);
  for (int n = 0; n < 200; ++n) {
    const Distribution p = random.any(5), q = random.any(5);
    const PlanOptions options{.epsilon = 0.3 * random.uniform()};
    const auto opt = build_epsilon_opt({p, 1}, q, options).value();
    const auto uno = build_epsilon_uno({p, 1}, q, options).value();
    EXPECT_LE(distance(stated_distribution(p, q, options.epsilon, true),
                       distribution(enumerate_distribution(*opt, 5))),
              1e-12);
    EXPECT_LE(distance(stated_distribution(p, q, options.epsilon, false),
                       distribution(enumerate_distribution(*uno, 5))),
              1e-12);
  }
}

TEST(OverAcceptance, ReportsTheBiasThatItHas) {
  RandomDistributions random(16);
  for (int n = 0; n < 200; ++n) {
    const Distribution p = random.any(5), q = random.any(5);
    const PlanOptions options{.epsilon = 0.3 * random.uniform()};
    const auto opt = build_epsilon_opt({p, 1}, q, options).value();
    const auto uno = build_epsilon_uno({p, 1}, q, options).value();
    EXPECT_NEAR(number(*opt, "bias"), bias(*opt, q), 1e-12);
    EXPECT_NEAR(number(*uno, "bias"), bias(*uno, q), 1e-12);
    EXPECT_NEAR(number(*opt, "bias"), number(*opt, "least_bias"), 1e-12);
    EXPECT_GE(number(*uno, "bias"), number(*uno, "least_bias") - 1e-12);
  }
}

// In the plane (bias, rejection) the best plans form the line from (0, TV) to (TV, 0).
TEST(OverAcceptance, RejectionAndLeastBiasAddUpToTotalVariation) {
  RandomDistributions random(17);
  for (int n = 0; n < 200; ++n) {
    const Distribution p = random.any(6), q = random.any(6);
    const auto plan = build_epsilon_opt({p, 1}, q, {.epsilon = random.uniform()}).value();
    EXPECT_NEAR(number(*plan, "rejection") + number(*plan, "least_bias"), total_variation(p, q), 1e-12);
    EXPECT_NEAR(plan->acceptance(), 1.0 - number(*plan, "rejection"), 1e-15);
  }
}

TEST(OverAcceptance, IsExactWithoutEpsilon) {
  RandomDistributions random(18);
  for (int n = 0; n < 50; ++n) {
    const Distribution p = random.any(5), q = random.any(5);
    EXPECT_LE(bias(*build_epsilon_opt({p, 1}, q, {}).value(), q), 1e-12);
  }
}

TEST(OverAcceptance, LargeEpsilonTakesEveryDraft) {
  const Distribution p = distribution({0.9, 0.1}), q = distribution({0.1, 0.9});
  const auto plan = build_epsilon_opt({p, 1}, q, {.epsilon = 1.0}).value();
  EXPECT_EQ(plan->acceptance(), 1.0);
  EXPECT_NEAR(number(*plan, "bias"), 0.8, 1e-15);
  EXPECT_FALSE(plan->residual().has_value());
}

// b = (q + ε)₊/p with ε < 0 is at most min(1, q/p): with the right correction there is no bias, and by
// Theorem 2 of the paper there are more rejections than for the maximal coupling.
TEST(OverAcceptance, BelowZeroIsExactAndRejectsMore) {
  RandomDistributions random(19);
  for (int n = 0; n < 200; ++n) {
    const Distribution p = random.any(5), q = random.any(5);
    double last = total_variation(p, q);
    for (const double epsilon : {-0.01, -0.1, -0.3, -1.0}) {
      const auto plan = build_epsilon_opt({p, 1}, q, {.epsilon = epsilon}).value();
      EXPECT_LE(bias(*plan, q), 1e-12);
      EXPECT_NEAR(number(*plan, "bias"), 0.0, 1e-12);
      EXPECT_NEAR(number(*plan, "least_bias"), 0.0, 1e-12);
      EXPECT_GE(number(*plan, "rejection"), last - 1e-12);
      last = number(*plan, "rejection");
    }
    EXPECT_NEAR(last, 1.0, 1e-12);  // b = 0: plain decoding
  }
}

TEST(OverAcceptance, OfUnoBelowZeroHasTheBiasThatItReports) {
  RandomDistributions random(20);
  for (int n = 0; n < 100; ++n) {
    const Distribution p = random.any(5), q = random.any(5);
    const auto plan = build_epsilon_uno({p, 1}, q, {.epsilon = -0.3 * random.uniform()}).value();
    EXPECT_NEAR(number(*plan, "bias"), bias(*plan, q), 1e-12);
  }
}

TEST(OverAcceptance, RefusesEpsilonThatIsNoNumber) {
  const Distribution p = distribution({1, 1});
  for (double epsilon : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(build_epsilon_opt({p, 1}, p, {.epsilon = epsilon}).has_value());
    EXPECT_FALSE(build_epsilon_uno({p, 1}, p, {.epsilon = epsilon}).has_value());
  }
}

}  // namespace
}  // namespace spectr
