// The distribution of whole outputs for blocks of up to 20,000 drafts, for every plan on smaller blocks, and
// for prefix trees and several draft models with every applicable plan.
#include <gtest/gtest.h>

#include <vector>

#include "spectr/transport/plans.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

void expect_exact(std::string_view method, std::string_view plan, double more_than, double max) {
  std::uint32_t seed = 200;
  for (const Shape& s : shapes(more_than, max)) {
    const TabularPair pair = TabularPair::random(s.vocabulary, 4, ++seed);
    const MethodDistribution found = method_distribution(pair, method, options_of(s.drafts, s.length, plan));
    EXPECT_LE(found.tv, 1e-12) << method << " " << plan << ", " << s.text();
  }
}

TEST(ExactnessOfLargeBlocks, KSeqHasTheTargetsDistribution) {
  expect_exact("spectr", "k-seq", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, RecursiveRejectionHasTheTargetsDistribution) {
  expect_exact("spectr", "recursive", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, TheOptimalPlanHasTheTargetsDistribution) {
  expect_exact("spectr", "optimal", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, BatchHasTheTargetsDistribution) {
  expect_exact("batch", "", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, TraversalHasTheTargetsDistribution) {
  expect_exact("traversal", "", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, EveryPlanHasTheTargetsDistribution) {
  for (const PlanRule& rule : plan_rules()) {
    if (!rule.lossless) continue;
    expect_exact("spectr", rule.name, 27, rule.max_tuples > 0.0 ? 64 : 256);
  }
}

TEST(ExactnessOfTrees, HoldsWithEveryPlan) {
  for (const std::vector<std::size_t>& tree :
       {std::vector<std::size_t>{2, 2}, {1, 2}, {2, 1, 1}, {3, 1}, {1, 1, 2}, {1, 3}}) {
    MethodOptions options = options_of(1, 1);
    options.tree = tree;
    const TabularPair pair = TabularPair::random(2, 4, 7);
    for (const PlanRule& rule : plan_rules()) {
      if (!rule.lossless || rule.max_tuples > 0.0) continue;
      options.plan = std::string(rule.name);
      EXPECT_LE(method_distribution(pair, "tree", options).tv, 1e-12) << rule.name;
    }
    options.plan.reset();
    EXPECT_LE(method_distribution(pair, "traversal", options).tv, 1e-12);
  }
}

TEST(ExactnessOfSeveralModels, HoldsWithEveryPlan) {
  for (std::size_t models : {1u, 2u, 3u}) {
    for (const Shape& s : {Shape{2, 3, 2}, {3, 2, 1}, {3, 2, 2}, {2, 2, 3}}) {
      const TabularPair pair = TabularPair::random(s.vocabulary, 4, 40, models);
      for (const PlanRule& rule : plan_rules()) {
        if (!rule.lossless || !rule.several_distributions) continue;
        if (rule.name.starts_with("str") && s.tuples() > 16) continue;
        const auto options = options_of(s.drafts, s.length, rule.name);
        EXPECT_LE(method_distribution(pair, "specinfer", options).tv, 1e-12)
            << rule.name << ", " << models << " models, " << s.text();
      }
    }
  }
}

}  // namespace
}  // namespace spectr
