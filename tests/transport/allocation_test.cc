// Selection allocates nothing: plans allocate when they are built, and the
// residual when it is first drawn from.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/transport/plans.h"
#include "tests/support/allocations.h"

namespace spectr {
namespace {

TEST(Select, AllocatesNothingOnceAResidualWasDrawnFrom) {
  const auto p = Distribution::from_weights({0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05});
  const auto q = Distribution::from_weights({0.05, 0.05, 0.3, 0.1, 0.1, 0.1, 0.1, 0.2});
  for (const PlanRule& rule : plan_rules()) {
    const auto plan = rule.build(DraftDistributions(p, rule.max_drafts == 1 ? 1 : 3), q, {.epsilon = 0.01});
    ASSERT_TRUE(plan) << rule.name;
    constexpr std::uint64_t runs = 500;
    const std::size_t k = (*plan)->drafts();
    std::vector<Token> drafts(runs * k);
    const auto drafts_of = [&](std::uint64_t run) { return std::span(drafts).subspan(run * k, k); };
    CounterRandom choices(7);
    for (std::uint64_t run = 0; run < runs; ++run) {
      choices.enter({.block = run});
      (*plan)->draw(drafts_of(run), choices);
    }
    const auto select = [&](std::uint64_t run) {
      choices.enter({.block = run, .purpose = Purpose::select});
      return (*plan)->select(drafts_of(run), choices);
    };
    for (std::uint64_t run = 0; run < runs; ++run) (void)select(run);
    std::size_t inside = 0, rejected = 0;
    // A new thread has no recycled memory yet, so all memory that it takes is allocated.
    std::thread([&] {
      for (std::uint64_t run = 0; run < runs; ++run) {
        const std::size_t before = test::allocations();
        const Selection y = select(run);
        inside += test::allocations() - before;
        rejected += y.accepted ? 0 : 1;
      }
    }).join();
    EXPECT_EQ(inside, 0u) << rule.name;
    EXPECT_GT(rejected, 0u) << rule.name << ": the residual was never drawn from";
  }
}

}  // namespace
}  // namespace spectr
