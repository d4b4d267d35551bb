// Selecting allocates nothing: plans do all of that when they are built.
#include <gtest/gtest.h>

#include "spectr/base/counter_random.h"
#include "spectr/transport/plans.h"
#include "tests/support/allocations.h"

namespace spectr {
namespace {

TEST(Select, AllocatesNothing) {
  const auto p = Distribution::from_weights({0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05});
  const auto q = Distribution::from_weights({0.05, 0.05, 0.3, 0.1, 0.1, 0.1, 0.1, 0.2});
  for (const PlanRule& rule : plan_rules()) {
    const auto plan = rule.build(DraftLaws(p, rule.most_drafts == 1 ? 1 : 3), q, {.epsilon = 0.01});
    ASSERT_TRUE(plan) << rule.name;
    CounterRandom choices(7);
    std::vector<Token> drafts((*plan)->drafts());
    std::size_t inside = 0, rejected = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
      choices.enter({.block = i});
      (*plan)->draw(drafts, choices);
      const std::size_t before = test::allocations();
      const Selection y = (*plan)->select(drafts, choices);
      inside += test::allocations() - before;
      rejected += y.accepted ? 0 : 1;
    }
    EXPECT_EQ(inside, 0u) << rule.name;
    EXPECT_GT(rejected, 0u) << rule.name << ": the residual was never drawn from";
  }
}

}  // namespace
}  // namespace spectr
