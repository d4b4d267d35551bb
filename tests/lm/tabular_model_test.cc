#include "spectr/lm/tabular_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "spectr/base/check.h"

namespace spectr {
namespace {

using testing::HasSubstr;

/// P(next = y) = 0.1 + 0.1·(step + last) for y = 0.
TabularModel stairs() {
  std::vector<double> rows;
  for (int step = 0; step < 3; ++step) {
    for (int last = 0; last < 2; ++last) {
      const double p = 0.1 + 0.1 * (step + last);
      rows.insert(rows.end(), {p, 1.0 - p});
    }
  }
  return {2, 3, rows};
}

double first_probability(const Session& session, NodeId node) {
  return std::exp(session.logits(node).at(0));
}

TEST(TabularModel, RowsDependOnStepAndLastToken) {
  const TabularModel model = stairs();
  const auto session = model.start(0, 8).value();
  TokenTree tree(1);
  const NodeId one = tree.child(TokenTree::root, 1), zero = tree.child(one, 0);
  ASSERT_TRUE(session->score(std::vector<Token>{1}, tree));
  EXPECT_NEAR(first_probability(*session, TokenTree::root), 0.2, 1e-15);
  EXPECT_NEAR(first_probability(*session, one), 0.3, 1e-15);
  EXPECT_NEAR(first_probability(*session, zero), 0.3, 1e-15);
  ASSERT_TRUE(session->score(std::vector<Token>{1, 1, 0, 0, 1}, TokenTree(1)));
  EXPECT_NEAR(first_probability(*session, TokenTree::root), 0.4, 1e-15);  // the last rows are reused
}

TEST(TabularModel, ProbabilityZeroIsMinusInfinity) {
  const TabularModel model(2, 1, {0.0, 1.0, 1.0, 0.0});
  EXPECT_EQ(model.log_row(0, 0)[0], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(model.log_row(9, 1)[0], 0.0);
}

TEST(TabularModel, TheContextIsNeverExceeded) {
  const TabularModel model = stairs();
  const auto session = model.start(3, 8).value();
  TokenTree tree(0);
  const NodeId below = tree.child(TokenTree::root, 1);
  EXPECT_TRUE(session->score(std::vector<Token>{1, 0}, tree));
  tree.child(below, 1);
  const auto failed = session->score(std::vector<Token>{1, 0}, tree);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("4 tokens, but the context holds 3"));
}

TEST(TabularModel, MistakesOfTheCallerAreFoundOut) {
  const TabularModel model = stairs();
  const auto session = model.start(0, 8).value();
  EXPECT_THROW(std::ignore = session->score({}, TokenTree(1)), BrokenContract);
  EXPECT_THROW(std::ignore = session->score(std::vector<Token>{1, 0}, TokenTree(1)), BrokenContract);
  EXPECT_THROW(session->logits(0), BrokenContract);
  ASSERT_TRUE(session->score(std::vector<Token>{1, 0}, TokenTree(0)));
  session->rewind(9);
  EXPECT_EQ(session->length(), 2u) << "there is no more than was scored";
}

TEST(TabularModel, TablesMustBeWhole) {
  EXPECT_THROW(TabularModel(2, 2, std::vector<double>(7, 0.5)), BrokenContract);
  EXPECT_THROW(TabularModel(0, 1, {}), BrokenContract);
}

TEST(TabularModel, RowsMustBeDistributions) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& row :
       {std::vector{0.5, 0.4}, {0.5, 0.5 + 2e-7}, {1.5, -0.5}, {1.0, nan}, {INFINITY, 0.0}}) {
    EXPECT_THROW(TabularModel(2, 1, {0.5, 0.5, row[0], row[1]}), BrokenContract);
  }
  EXPECT_NO_THROW(TabularModel(2, 1, {0.5, 0.5, 0.0, 1.0 - 5e-8}));
}

// MT19937 with 53-bit doubles, as in numpy's RandomState(seed).random_sample.
TEST(TabularModel, RandomTablesAreReproducible) {
  std::mt19937 generator(0);
  EXPECT_DOUBLE_EQ(uniform53(generator), 0.5488135039273248);
  EXPECT_DOUBLE_EQ(uniform53(generator), 0.7151893663724195);
  std::mt19937 again(0);
  const TabularModel model = TabularModel::random(2, 3, again);
  EXPECT_NEAR(std::exp(model.log_row(0, 0)[0]),
              0.5488135039273248 / (0.5488135039273248 + 0.7151893663724195), 1e-15);
  for (std::size_t step = 0; step < 3; ++step) {
    for (Token last : {0, 1}) {
      EXPECT_NEAR(std::exp(model.log_row(step, last)[0]) + std::exp(model.log_row(step, last)[1]), 1.0,
                  1e-15);
    }
  }
}

}  // namespace
}  // namespace spectr
