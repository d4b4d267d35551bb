// The exact acceptances in the gallery, for each plan.
#include "tests/transport/gallery.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "spectr/transport/acceptance_bounds.h"
#include "spectr/transport/plans.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

class Gallery : public ::testing::TestWithParam<gallery::Problem> {
 protected:
  const Distribution p = distribution(GetParam().p), q = distribution(GetParam().q);
  const std::size_t k = GetParam().k;

  void expect_acceptance(std::string_view plan, double value) const {
    if (std::isnan(value)) return;
    const auto rule = find_plan(plan);
    ASSERT_TRUE(rule.has_value()) << rule.error().message;
    EXPECT_NEAR((*rule)->build({p, k}, q, {}).value()->acceptance(), value, 1e-12) << plan;
  }
};

TEST_P(Gallery, HasTheAcceptanceOfEveryPlan) {
  expect_acceptance("k-seq", GetParam().k_seq);
  expect_acceptance("recursive", GetParam().recursive);
  expect_acceptance("recursive-wor", GetParam().without_replacement);
  expect_acceptance("str+", GetParam().str);
  expect_acceptance("str++", GetParam().str);
  expect_acceptance("optimal", GetParam().optimum);
  expect_acceptance("otm-lp", GetParam().optimum);
}

TEST_P(Gallery, HasTheOptimumOfBothFormulas) {
  EXPECT_NEAR(optimal_acceptance(p, q, k), GetParam().optimum, 1e-15);
  EXPECT_NEAR(optimal_acceptance_by_subsets({p, k}, q), GetParam().optimum, 1e-15);
}

INSTANTIATE_TEST_SUITE_P(Problems, Gallery, ::testing::ValuesIn(gallery::problems()),
                         [](const auto& problem) { return std::string(problem.param.name); });

}  // namespace
}  // namespace spectr
