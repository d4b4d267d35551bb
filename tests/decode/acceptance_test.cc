// The running estimates of what a pair of models accepts.
#include "spectr/decode/auto/acceptance.h"

#include <gtest/gtest.h>

#include "spectr/transport/acceptance_bounds.h"

namespace spectr {
namespace {

TEST(AcceptanceEstimate, OfTheOptimalPlanIsTheOptimum) {
  const auto p = Distribution::from_weights({0.5, 0.3, 0.1, 0.1}),
             q = Distribution::from_weights({0.1, 0.3, 0.2, 0.4});
  for (const std::size_t k : {1U, 2U, 5U, 8U})
    EXPECT_NEAR(tickets_acceptance(p, q, k), optimal_acceptance(p, q, k), 1e-12) << k;
}

TEST(AcceptanceEstimate, MovesTowardsWhatIsSeen) {
  const auto p = Distribution::from_weights({0.9, 0.1}), q = Distribution::from_weights({0.1, 0.9});
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) estimate.see_first(p, q);
  EXPECT_NEAR(estimate.acceptances(1)[0], 0.2, 1e-9);
  EXPECT_GT(estimate.acceptances(2)[0], estimate.acceptances(1)[0]);
  const double two = estimate.acceptances(2)[0], four = estimate.acceptances(4)[0];
  EXPECT_NEAR(estimate.acceptances(3)[0], two + 0.584962500721156 * (four - two), 1e-12);
  EXPECT_NEAR(estimate.tokens(1)[3], 1 + 0.2 + 0.04 + 0.008, 1e-8);
}

TEST(AcceptanceEstimate, LearnsOfEveryNumberOfDraftsFromTheFirstContexts) {
  const auto p = Distribution::from_weights({1.0, 0.0}), q = Distribution::from_weights({0.0, 1.0});
  AcceptanceEstimate estimate;
  for (int i = 0; i < 8; ++i) estimate.see_first(p, q);
  for (const std::size_t K : AcceptanceEstimate::drafts) EXPECT_LT(estimate.acceptances(K)[0], 0.1) << K;
}

TEST(AcceptanceEstimate, TellsPositionsApart) {
  const auto p = Distribution::from_weights({0.9, 0.1}), q = Distribution::from_weights({0.1, 0.9});
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) {
    estimate.see_first(p, q);
    estimate.see_further(1, 1, 1, p, p);
    estimate.see_further(2, 1, 1, p, q);
  }
  EXPECT_NEAR(estimate.acceptances(1)[0], 0.2, 1e-9);
  EXPECT_GT(estimate.acceptances(1)[1], 0.98);
  EXPECT_NEAR(estimate.acceptances(1)[2], 0.2, 0.02);
  EXPECT_EQ(estimate.acceptances(1)[3], estimate.acceptances(1)[2]) << "unseen: like the one before";
  AcceptanceEstimate first_only;
  for (int i = 0; i < 1000; ++i) first_only.see_first(p, q);
  EXPECT_EQ(estimate.tokens(2)[4], first_only.tokens(2)[4]) << "several sequences are another matter";
}

TEST(AcceptanceEstimate, ForgetsHowPositionsWereLongAgo) {
  const auto p = Distribution::from_weights({0.9, 0.1}), q = Distribution::from_weights({0.1, 0.9});
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) {
    estimate.see_first(p, q);
    estimate.see_further(1, 1, 1, p, p);
  }
  for (int i = 0; i < 300; ++i) estimate.see_further(1, 1, 1, p, q);
  EXPECT_LT(estimate.acceptances(1)[1], 0.25);
}

TEST(AcceptanceEstimate, CountsEveryNodeOfAChain) {
  AcceptanceEstimate estimate;
  for (int i = 0; i < 100; ++i) estimate.see_merging(4, 16, 8);
  EXPECT_EQ(estimate.nodes(1, 5), 5.0);
  EXPECT_NEAR(estimate.nodes(4, 4), 8.0, 0.01);
  EXPECT_GT(estimate.nodes(2, 4), 6.0) << "of other numbers of sequences nothing was learnt";
}

TEST(AcceptanceEstimate, ComparesEveryEarlyBlockAndThenEveryFourth) {
  AcceptanceEstimate estimate;
  int early = 0, later = 0;
  for (int block = 0; block < 8; ++block) early += estimate.wants_distributions() ? 1 : 0;
  for (int block = 0; block < 400; ++block) later += estimate.wants_distributions() ? 1 : 0;
  EXPECT_EQ(early, 8);
  EXPECT_EQ(later, AutoParams().compared_share * 400);
}

}  // namespace
}  // namespace spectr
