#include "spectr/sampling/likelihood.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "spectr/base/check.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns a row with weights 4, 1, 0, 4, 1 of 10: ties, and an impossible token.
template <class Number>
std::vector<Number> row() {
  std::vector<Number> logits;
  for (double weight : {4.0, 1.0, 0.0, 4.0, 1.0}) logits.push_back(static_cast<Number>(std::log(weight)));
  return logits;
}

template <class Number>
class EveryPrecision : public testing::Test {
 protected:
  const std::vector<Number> logits = row<Number>();
  const Logits view = std::span<const Number>(logits);
  const double tolerance = 4.0 * std::numeric_limits<Number>::epsilon();
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(EveryPrecision, Precisions);

TYPED_TEST(EveryPrecision, LikeliestComeFirstAndTiesByTheLowerId) {
  const auto best = likeliest(this->view, 5);
  const Token tokens[] = {0, 3, 1, 4, 2};
  const double shares[] = {0.4, 0.4, 0.1, 0.1, 0.0};
  ASSERT_EQ(best.size(), 5u);
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(best[i].token, tokens[i]);
    EXPECT_NEAR(std::exp(best[i].log_probability), shares[i], this->tolerance);
  }
  EXPECT_EQ(best.back().log_probability, -infinity);
}

TYPED_TEST(EveryPrecision, LikeliestAreAsManyAsThereAreAndAreAskedFor) {
  EXPECT_TRUE(likeliest(this->view, 0).empty());
  EXPECT_EQ(likeliest(this->view, 9).size(), 5u);
  const auto three = likeliest(this->view, 3);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[2].token, 1);
}

TYPED_TEST(EveryPrecision, LogProbabilitiesAreNegativeLogLikelihoods) {
  for (const Likelihood& each : likeliest(this->view, 5)) {
    EXPECT_EQ(negative_log_likelihood(this->view, each.token), -each.log_probability);
  }
}

TEST(Likelihood, IsTheLogOfTheSoftmax) {
  const std::vector<double> row = {std::log(0.2), std::log(0.5), std::log(0.3)};
  EXPECT_NEAR(negative_log_likelihood(std::span<const double>(row), 1), -std::log(0.5), 1e-15);
  const std::vector<double> far = {1e4, 1e4 - 1.0};
  EXPECT_NEAR(negative_log_likelihood(std::span<const double>(far), 1), 1.0 + std::log1p(std::exp(-1.0)),
              1e-11);
}

TEST(Likeliest, LeavesOutWhatIsNotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> row = {nan, 1.0F, nan, 2.0F};
  const auto best = likeliest(std::span<const float>(row), 4);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].token, 3);
  EXPECT_EQ(best[1].token, 1);
  const std::vector<float> none(3, nan);
  EXPECT_TRUE(likeliest(std::span<const float>(none), 2).empty());
}

TEST(Likelihood, RefusesTokensOutsideTheRow) {
  const std::vector<double> logits = row<double>();
  EXPECT_THROW(negative_log_likelihood(std::span<const double>(logits), 5), BrokenContract);
  EXPECT_THROW(negative_log_likelihood(std::span<const double>(logits), -1), BrokenContract);
  EXPECT_THROW(likeliest(std::span<const double>(), 1), BrokenContract);
}

TEST(LikeliestOfADistribution, AreThoseThatItHasInOrder) {
  const Distribution dense = Distribution::dense({0.1, 0.4, 0.0, 0.4, 0.1}).value();
  const auto tokens = [](const RecycledVector<Likelihood>& all) {
    std::vector<Token> tokens;
    for (const Likelihood& one : all) tokens.push_back(one.token);
    return tokens;
  };
  EXPECT_THAT(tokens(likeliest(dense, 3)), testing::ElementsAre(1, 3, 0)) << "ties go to the lower id";
  EXPECT_THAT(tokens(likeliest(dense, 9)), testing::ElementsAre(1, 3, 0, 4)) << "no token of probability 0";
  EXPECT_TRUE(likeliest(dense, 0).empty());
  EXPECT_DOUBLE_EQ(likeliest(dense, 1)[0].log_probability, std::log(0.4));
  const Distribution point = Distribution::point(7, 10);
  ASSERT_EQ(likeliest(point, 5).size(), 1u);
  EXPECT_EQ(likeliest(point, 5)[0].token, 7);
  EXPECT_EQ(likeliest(point, 5)[0].log_probability, 0.0);
}

}  // namespace
}  // namespace spectr
