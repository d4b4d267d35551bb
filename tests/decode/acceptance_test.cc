// Running estimates of the acceptance rates of a pair of models.
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

const auto p = Distribution::from_weights({0.9, 0.1}), q = Distribution::from_weights({0.1, 0.9});

void see_first(AcceptanceEstimate& estimate, double confidence, const Distribution& target) {
  estimate.see_confidence(0, confidence);
  estimate.see_first(confidence, p, target);
}

void see_further(AcceptanceEstimate& estimate, double confidence, const Distribution& target) {
  estimate.see_confidence(1, confidence);
  estimate.see_further(confidence, 1, p, target);
}

TEST(AcceptanceEstimate, MovesTowardsWhatIsSeen) {
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) see_first(estimate, 0.9, q);
  EXPECT_NEAR(estimate.acceptances(1)[0], 0.2, 1e-9);
  EXPECT_GT(estimate.acceptances(2)[0], estimate.acceptances(1)[0]);
  const double two = estimate.acceptances(2)[0], four = estimate.acceptances(4)[0];
  EXPECT_NEAR(estimate.acceptances(3)[0], two + 0.584962500721156 * (four - two), 1e-12);
  EXPECT_NEAR(estimate.tokens(1)[3], 1 + 0.2 + 0.04 + 0.008, 1e-8);
}

TEST(AcceptanceEstimate, LearnsOfEveryNumberOfDraftsFromTheFirstContexts) {
  const auto one = Distribution::from_weights({1.0, 0.0}), other = Distribution::from_weights({0.0, 1.0});
  AcceptanceEstimate estimate;
  for (int i = 0; i < 8; ++i) {
    estimate.see_confidence(0, 0.5);
    estimate.see_first(0.5, one, other);
  }
  for (const std::size_t K : AcceptanceEstimate::drafts)
    EXPECT_LT(estimate.acceptances(K)[0], 0.12) << K << ": at levels that were not seen, too";
}

TEST(AcceptanceEstimate, TellsLaterPositionsFromTheFirst) {
  AcceptanceEstimate estimate, first_only;
  for (int i = 0; i < 1000; ++i) {
    see_first(estimate, 0.9, q);
    see_first(first_only, 0.9, q);
    see_further(estimate, 0.9, p);
  }
  EXPECT_NEAR(estimate.acceptances(1)[0], 0.2, 1e-9);
  EXPECT_GT(estimate.acceptances(1)[1], 0.97);
  EXPECT_NEAR(first_only.acceptances(1)[1], 0.2, 1e-9) << "unseen: like the first";
}

TEST(AcceptanceEstimate, ForgetsHowLaterPositionsWereLongAgo) {
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) {
    see_first(estimate, 0.9, q);
    see_further(estimate, 0.9, p);
  }
  for (int i = 0; i < 300; ++i) see_further(estimate, 0.9, q);
  EXPECT_LT(estimate.acceptances(1)[1], 0.25);
}

TEST(AcceptanceEstimate, TellsConfidentContextsFromOthers) {
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) {
    see_first(estimate, 0.99, p);
    see_first(estimate, 0.2, q);
  }
  const LearnedAcceptance learned = estimate.learned();
  EXPECT_NEAR(learned.confidences.front(), 0.5, 0.02);
  EXPECT_NEAR(learned.confidences.back(), 0.5, 0.02);
  EXPECT_NEAR(learned.accepted.front().front(), 0.2, 0.05);
  EXPECT_NEAR(learned.accepted.back().front(), 1.0, 0.05);
}

TEST(AcceptanceEstimate, DraftsThatStopAreAcceptedMoreOften) {
  AcceptanceEstimate estimate;
  for (int i = 0; i < 1000; ++i) {
    const bool sure = i % 2 == 0;
    see_first(estimate, sure ? 0.99 : 0.2, sure ? p : q);
    see_further(estimate, sure ? 0.99 : 0.2, sure ? p : q);
  }
  const auto drafted = estimate.drafted(), accepted = estimate.accepted(1);
  constexpr auto strict = std::size_t{2}, never = AcceptanceEstimate::never;
  EXPECT_EQ(drafted[0][strict], 1.0);
  EXPECT_NEAR(drafted[1][strict], 0.5, 0.02) << "half of the first contexts leave a small reach";
  EXPECT_EQ(drafted[1][never], 1.0);
  EXPECT_GT(accepted[1][strict] / drafted[1][strict], 1.3 * accepted[1][never] / drafted[1][never]);
  EXPECT_NEAR(accepted[2][never], estimate.tokens(1)[3] - estimate.tokens(1)[2], 1e-12);
}

TEST(AcceptanceEstimate, GoesOnFromWhatItHasLearned) {
  AcceptanceEstimate before, after;
  for (int i = 0; i < 100; ++i) see_first(before, i % 3 == 0 ? 0.6 : 0.9, i % 2 == 0 ? p : q);
  after.remember(before.learned());
  for (const std::size_t K : {1U, 3U, 8U})
    EXPECT_NEAR(after.acceptances(K)[0], before.acceptances(K)[0], 1e-12) << K;
}

TEST(ConfidenceLevel, IsThatOfTheLastBoundBelow) {
  EXPECT_EQ(confidence_level(0.0), 0U);
  EXPECT_EQ(confidence_level(0.29), 0U);
  EXPECT_EQ(confidence_level(0.3), 1U);
  EXPECT_EQ(confidence_level(1.0), AutoParams::confidences.size() - 1);
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
