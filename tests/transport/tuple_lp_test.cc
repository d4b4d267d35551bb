#include "spectr/transport/programs/tuple_lp.h"

#include <gtest/gtest.h>

#include "spectr/transport/acceptance_bounds.h"
#include "spectr/transport/plans/tickets.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

TEST(TupleLp, ReachesTheBruteForceOptimumForDifferentDrafters) {
  RandomDistributions random(31);
  for (int n = 0; n < 150; ++n) {
    SCOPED_TRACE(n);
    const std::size_t vocabulary = 1 + random.below(5), k = 1 + random.below(3);
    std::vector<Distribution> p;
    while (p.size() < k) p.push_back(random.any(vocabulary));
    const Distribution q = random.any(vocabulary);
    const auto plan = build_tuple_lp(several(p), q, {});
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    EXPECT_NEAR((*plan)->acceptance(), optimal_acceptance_by_subsets(several(p), q), 1e-10);
  }
}

TEST(TupleLp, AgreesWithTicketsUpToItsLimit) {
  RandomDistributions random(32);
  for (const auto& [vocabulary, k] : {std::pair{2u, 14u}, std::pair{12u, 3u}, std::pair{60u, 2u}}) {
    const Distribution p = random.dense(vocabulary), q = random.dense(vocabulary);
    EXPECT_NEAR(build_tuple_lp({p, k}, q, {}).value()->acceptance(),
                build_tickets({p, k}, q, {}).value()->acceptance(), 1e-10);
  }
}

TEST(TupleLp, RefusesMoreTuplesThanItsLimit) {
  const Distribution p = Distribution::from_weights(std::vector(142, 1.0));
  const auto plan = build_tuple_lp({p, 2}, p, {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().message,
            "otm-lp: k = 2 drafts make more than 20000 tuples, the most that its linear program takes");
}

// Tuples whose probability underflows are rejected, which does not change any double.
TEST(TupleLp, AcceptsMassesThatUnderflow) {
  const Distribution p = distribution({1.0, 1e-200, 1e-250}), q = distribution({0.5, 0.25, 0.25});
  const auto plan = build_tuple_lp({p, 3}, q, {});
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_NEAR((*plan)->acceptance(), 0.5, 1e-12);
  EXPECT_LE(worst_conditional(**plan, 3), 1e-12);
}

}  // namespace
}  // namespace spectr
