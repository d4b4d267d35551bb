#include "spectr/transport/spectr_plus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spectr/transport/plan_check.h"

namespace spectr {
namespace {

std::vector<double> numbers(const TransportPlan& plan, const std::string& name) {
  return std::get<std::vector<double>>(plan.parameters().at(name));
}

TEST(SpectrPlus, FactorsMatchGoldenValues) {
  const Distribution p = Distribution::from_weights({3, 2, 1}), q = Distribution::from_weights({1, 2, 3});
  for (const auto build : {build_str_plus, build_str_plus_plus}) {
    const auto plan = build({p, 2}, q, {});
    EXPECT_NEAR((*plan)->acceptance(), 7.0 / 9.0, 1e-12);
    EXPECT_THAT(numbers(**plan, "alphas"), testing::Pointwise(testing::DoubleNear(1e-9), {1.0 / 3.0, 1.0}));
    const auto law = enumerate_law(**plan, 3);
    for (int x = 0; x < 3; ++x) EXPECT_NEAR(law[static_cast<std::size_t>(x)], q[x], 1e-12);
  }
}

TEST(SpectrPlus, ReachesTheOptimumWhereTheSecondTestIsCertain) {
  const Distribution p = Distribution::from_weights({1, 1}), q = Distribution::from_weights({1, 3});
  const auto plan = build_str_plus({p, 2}, q, {});
  EXPECT_NEAR((*plan)->acceptance(), 1.0, 1e-12);
  EXPECT_THAT(numbers(**plan, "alphas"), testing::Pointwise(testing::DoubleNear(1e-9), {0.0, 2.0}));
}

}  // namespace
}  // namespace spectr
