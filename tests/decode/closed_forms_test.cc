// Expected rejections and target calls of enumerated decoders equal the closed forms of the theory.
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;

using Row = std::vector<double>;

TEST(ClosedForms, PlainDecodingTakesACallAToken) {
  const MethodDistribution found =
      method_distribution(TabularPair::random(3, 4, 1), "plain", options_of(1, 1));
  EXPECT_NEAR(found.exact.expected_target_calls, 4.0, 1e-13);
  EXPECT_EQ(found.exact.expected_rejections, 0.0);
}

// The acceptance of the first level by k-Seq and tickets has a closed form for uniform distributions
// p = U(d), q = U(d/r): 1 − (1 − 1/r)^k.
TEST(ClosedForms, UniformDistributionsAcceptByTheirSupports) {
  const Row p = {0.25, 0.25, 0.25, 0.25}, q = {0.5, 0.5, 0.0, 0.0};
  for (const char* plan : {"k-seq", "recursive", "str+", "str++", "optimal", "otm-lp"}) {
    for (std::size_t k : {1u, 2u, 3u}) {
      const MethodDistribution found =
          method_distribution(TabularPair::constant(p, q), "spectr", options_of(k, 1, plan), {.horizon = 1});
      EXPECT_NEAR(found.exact.expected_rejections, std::pow(0.5, static_cast<double>(k)), 1e-12) << plan;
    }
  }
}

// The sequences share a first token that is always accepted, and each continues with its own draft.
TEST(ClosedForms, SequencesThatBeginAlikeGoOnTogether) {
  constexpr std::size_t vocabulary = 4;
  const Row first = {1, 0, 0, 0}, p = {0.25, 0.25, 0.25, 0.25}, q = {0.5, 0.5, 0.0, 0.0};
  const auto steps = [&](const Row& second) {
    Row rows;
    for (const Row& row : {first, second}) {
      for (std::size_t last = 0; last < vocabulary; ++last) rows.insert(rows.end(), row.begin(), row.end());
    }
    return TabularModel(vocabulary, 2, rows);
  };
  const TabularPair pair{{steps(p)}, steps(q)};
  for (const std::string_view method : {"spectr", "specinfer", "traversal"}) {
    for (std::size_t k : {1u, 2u, 3u}) {
      const MethodDistribution found = method_distribution(pair, method, options_of(k, 2), {.horizon = 2});
      EXPECT_LE(found.tv, 1e-12);
      EXPECT_NEAR(found.exact.expected_rejections, std::pow(0.5, static_cast<double>(k)), 1e-12) << method;
    }
  }
}

}  // namespace
}  // namespace spectr
