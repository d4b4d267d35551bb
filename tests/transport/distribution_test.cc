#include "spectr/transport/distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "spectr/base/check.h"
#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using test::distribution;
using testing::ElementsAre;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Returns a sparse distribution from plain lists.
Distribution listed(const std::vector<Token>& tokens, const std::vector<double>& weights,
                    std::size_t vocabulary) {
  return Distribution::from_weights(tokens, weights, vocabulary);
}

TEST(Distribution, IsProportionalToItsWeights) {
  const Distribution dense = distribution({1, 0, 3});
  EXPECT_TRUE(dense.is_dense());
  EXPECT_THAT(dense.probabilities(), ElementsAre(0.25, 0.0, 0.75));
  const Distribution list = listed({2, 7}, {1, 3}, 10);
  EXPECT_FALSE(list.is_dense());
  EXPECT_EQ(list.vocabulary(), 10u);
  EXPECT_THAT(list.tokens(), ElementsAre(2, 7));
  EXPECT_THAT(list.probabilities(), ElementsAre(0.25, 0.75));
}

TEST(Distribution, DropsTheZerosOfAList) {
  const Distribution d = listed({0, 2, 5, 6}, {0, 1, 0, 1}, 7);
  EXPECT_THAT(d.tokens(), ElementsAre(2, 6));
  EXPECT_THAT(d.probabilities(), ElementsAre(0.5, 0.5));
}

TEST(Distribution, HasProbabilityZeroOutsideItsListAndItsVocabulary) {
  for (const Distribution& d :
       {listed({2, 7}, {1, 3}, 10), Distribution::point(2, 3), distribution({0, 0, 1})}) {
    EXPECT_GT(d[2], 0.0);
    for (const Token x : {-1, 0, 1, 3, 8, 9, 10, 1'000'000}) EXPECT_EQ(d[x], 0.0) << x;
    EXPECT_EQ(d.find(-1), std::nullopt);
    EXPECT_EQ(d.find(10), std::nullopt);
    EXPECT_EQ(d.token(d.find(2).value()), 2);
  }
}

TEST(Distribution, NeedsAnAscendingListWithinTheVocabulary) {
  EXPECT_THROW(listed({2, 1}, {1, 1}, 3), BrokenContract);
  EXPECT_THROW(listed({1, 1}, {1, 1}, 3), BrokenContract);
  EXPECT_THROW(listed({0, 3}, {1, 1}, 3), BrokenContract);
  EXPECT_THROW(listed({-1, 2}, {1, 1}, 3), BrokenContract);
  EXPECT_THROW(listed({0, 1}, {1}, 3), BrokenContract);
}

TEST(Distribution, NeedsWeightsOfADistribution) {
  for (const auto& weights :
       {std::vector<double>{1, -0.5}, {-1, -1}, {1, nan}, {1, infinity}, {0, 0}, {1e308, 1e308}}) {
    EXPECT_THROW(distribution(weights), BrokenContract);
    EXPECT_THROW(listed({0, 1}, weights, 3), BrokenContract);
  }
  EXPECT_THROW(distribution({}), BrokenContract);
  EXPECT_THROW(listed({}, {}, 3), BrokenContract);
}

// The reciprocal of such a total overflows to infinity.
TEST(Distribution, NormalisesASubnormalTotal) {
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_THAT(distribution({least, 3 * least}).probabilities(), ElementsAre(0.25, 0.75));
  EXPECT_THAT(listed({1, 2}, {least, least}, 4).probabilities(), ElementsAre(0.5, 0.5));
}

TEST(Distribution, NormalisesSumsThatAreOffByRounding) {
  for (const double off : {1e-7, -1e-7}) {
    const auto d = Distribution::dense({0.5, 0.5 + off});
    ASSERT_TRUE(d.has_value());
    EXPECT_NEAR((*d)[0] + (*d)[1], 1.0, 1e-15);
  }
}

TEST(Distribution, RefusesWhatIsNoDistributionByTheEntryAtFault) {
  const auto message = [](const std::vector<double>& p) {
    return Distribution::dense(p, "p").error().message;
  };
  EXPECT_EQ(message({0.5, 0.5 + 3e-7}), "p sums to 1.0000003, not to 1");
  EXPECT_EQ(message({0.5, 0.6, -0.1}), "p[2] is negative: -0.1");
  EXPECT_EQ(message({0.5, nan}), "p[1] is nan");
  EXPECT_EQ(message({infinity, 0}), "p[0] is inf");
  EXPECT_EQ(message({0, 0}), "p sums to 0, not to 1");
  EXPECT_EQ(message({}), "p is empty");
}

TEST(TotalVariation, IsHalfTheDistanceOfTheMasses) {
  EXPECT_DOUBLE_EQ(total_variation(distribution({1, 1, 0}), distribution({0, 1, 1})), 0.5);
  EXPECT_DOUBLE_EQ(total_variation(listed({0, 1}, {1, 1}, 3), distribution({0, 1, 1})), 0.5);
  EXPECT_EQ(total_variation(Distribution::point(0, 9), listed({4, 8}, {1, 2}, 9)), 1.0);
}

TEST(TotalVariation, NeedsOneVocabulary) {
  EXPECT_THROW(total_variation(distribution({1, 1}), distribution({1, 1, 1})), BrokenContract);
  EXPECT_THROW(total_variation(Distribution::point(0, 2), Distribution::point(0, 3)), BrokenContract);
}

}  // namespace
}  // namespace spectr
