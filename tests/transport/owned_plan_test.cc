// Plans that own their distributions, for bindings of other languages.
#include "spectr/transport/owned_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spectr/base/counter_random.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using test::value_of;
using testing::HasSubstr;

std::unique_ptr<OwnedPlan> plan_of(std::string_view name, std::size_t k) {
  const RecycledVector<double> p = {0.5, 0.5, 0.0}, q = {0.25, 0.5, 0.25};
  return value_of(OwnedPlan::make(name, Distribution::from_weights(p), Distribution::from_weights(q), k));
}

TEST(OwnedPlan, HasTheTargetsLawForEveryLosslessPlan) {
  for (const PlanRule& rule : plan_rules()) {
    if (!rule.lossless) continue;
    const auto law = value_of(plan_of(rule.name, 2)->law());
    EXPECT_THAT(law, testing::Pointwise(testing::DoubleNear(1e-12), {0.25, 0.5, 0.25})) << rule.name;
  }
}

TEST(OwnedPlan, DrawsAndSelectsByItsStream) {
  const auto plan = plan_of("k-seq", 2);
  std::vector<int> counts(3);
  for (std::uint64_t stream = 0; stream < 1000; ++stream) {
    const RandomStream from{.seed = 3, .stream = stream};
    const std::vector<Token> drafts = plan->draw(from);
    EXPECT_EQ(plan->draw(from), drafts);
    const Selection y = value_of(plan->select(drafts, from));
    EXPECT_EQ(value_of(plan->select(drafts, from)).token, y.token);
    EXPECT_GT(value_of(plan->conditional(drafts))[y.token], 0.0);
    ++counts[static_cast<std::size_t>(y.token)];
  }
  EXPECT_NEAR(counts[1], 500, 80);  // five standard deviations
}

TEST(OwnedPlan, NamesWhatItRefuses) {
  const auto make = [](std::string_view name, std::size_t vocabulary, std::size_t k,
                       PlanOptions options = {}) -> std::string {
    const auto plan =
        OwnedPlan::make(name, Distribution::point(0, vocabulary), Distribution::point(0, 2), k, options);
    return plan ? "accepted" : plan.error().message;
  };
  EXPECT_THAT(make("nonsense", 2, 1), HasSubstr("there is no plan 'nonsense'"));
  EXPECT_THAT(make("k-seq", 3, 1), HasSubstr("p has a vocabulary of 3, but q has 2"));
  EXPECT_THAT(make("k-seq", 2, 0), HasSubstr("k must lie in [1, 1024], got 0"));
  EXPECT_THAT(make("epsilon-opt", 2, 2), HasSubstr("at most 1 draft"));
  EXPECT_THAT(make("str+", 2, 1, {.rounds = 0}), HasSubstr("rounds must be at least 1"));
  const auto plan = plan_of("k-seq", 2);
  const auto refusal = [&](const std::vector<Token>& drafts) {
    return plan->select(drafts, {}).error().message;
  };
  EXPECT_THAT(refusal({0}), HasSubstr("must have 2 tokens, got 1"));
  EXPECT_THAT(refusal({0, 3}), HasSubstr("drafts[1] must lie in [0, 2], got 3"));
  EXPECT_THAT(refusal({2, 0}), HasSubstr("drafts[0] is 2, which has probability 0"));
  EXPECT_THAT(plan_of("recursive-wor", 2)->conditional(std::vector<Token>{1, 1}).error().message,
              HasSubstr("without replacement"));
  EXPECT_THAT(plan_of("k-seq", 20)->law().error().message, HasSubstr("tuples"));
}

}  // namespace
}  // namespace spectr
