// The law of whole outputs where a block has up to 20,000 drafts, and every plan up to 729.
#include <gtest/gtest.h>

#include "spectr/transport/plans.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

void expect_exact(std::string_view method, std::string_view plan, double more_than, double most) {
  std::uint32_t seed = 200;
  for (const Shape& s : shapes(more_than, most)) {
    const TabularPair pair = TabularPair::random(s.vocabulary, 4, ++seed);
    const MethodLaw found = method_law(pair, method, options_of(s.drafts, s.length, plan));
    EXPECT_LE(found.tv, 1e-12) << method << " " << plan << ", " << s.text();
  }
}

TEST(ExactnessOfLargeBlocks, SpectrKSeq) {
  expect_exact("spectr", "k-seq", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, SpectrRecursive) {
  expect_exact("spectr", "recursive", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, SpectrOptimal) {
  expect_exact("spectr", "optimal", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, Batch) {
  expect_exact("batch", "", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, Traversal) {
  expect_exact("traversal", "", 729, 20'000);
}
TEST(ExactnessOfLargeBlocks, SpectrOfEveryOtherPlan) {
  for (const PlanRule& rule : plan_rules()) {
    if (!rule.lossless || rule.most_drafts == 1) continue;
    expect_exact("spectr", rule.name, 27, rule.name == "otm-lp" ? 64 : 256);
  }
}

}  // namespace
}  // namespace spectr
