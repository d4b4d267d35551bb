#include "spectr/transport/k_seq.h"

#include <gtest/gtest.h>

#include "spectr/transport/plan_check.h"

namespace spectr {
namespace {

Distribution law(std::vector<double> p) {
  return Distribution::from_weights(std::move(p));
}

TEST(KSeq, Quick) {
  const Distribution p = law({1. / 2, 1. / 3, 1. / 6}), q = law({1. / 6, 1. / 3, 1. / 2});
  auto plan = build_k_seq(DraftLaws(p, 2), q, {}).value();
  EXPECT_NEAR(plan->acceptance(), 0.75, 1e-13);
  EXPECT_NEAR(std::get<double>(plan->parameters()["rho"]), 1.5, 1e-13);
  const auto l = enumerate_law(*plan, 3);
  for (int x = 0; x < 3; ++x) EXPECT_NEAR(l[x], q[x], 1e-14);
  const Distribution p2 = law({1. / 2, 1. / 3, 1. / 6});
  auto plan2 = build_k_seq(DraftLaws(std::vector<const Distribution*>{&p, &p2}), q, {}).value();
  EXPECT_NEAR(plan2->acceptance(), 0.75, 1e-12);
  const Distribution b1 = law({.75, .25}), b2 = law({.25, .75});
  EXPECT_NEAR(build_k_seq(DraftLaws(b1, 2), b2, {}).value()->acceptance(), 0.648268, 1e-6);
  const Distribution s1 = law({.5, .5}), s2 = law({.25, .75});
  EXPECT_NEAR(1 / std::get<double>(build_k_seq(DraftLaws(s1, 2), s2, {}).value()->parameters()["rho"]),
              0.7639320, 1e-7);
  EXPECT_NEAR(1 - build_k_seq(DraftLaws(s1, 2), s2, {}).value()->acceptance(), 0.0954915, 1e-7);
  const Distribution q4 = law({.5, .5, 0, 0}), d1 = law({.501, .499, 0, 0}), d2 = Distribution::point(2, 4),
                     d3 = Distribution::point(3, 4);
  auto plan4 = build_k_seq(DraftLaws(std::vector{&d1, &d2, &d3}), q4, {}).value();
  EXPECT_NEAR(plan4->acceptance(), .999, 1e-12);
  EXPECT_EQ(std::get<double>(plan4->parameters()["rho"]), 1.0);
}

}  // namespace
}  // namespace spectr
