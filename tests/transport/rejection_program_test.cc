// LP_k of SpecTr++, solved by the tableau of k columns and by the library's solver with 2k.
#include "spectr/transport/programs/rejection_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/transport/distributions.h"

namespace spectr {
namespace {

using namespace test;

std::vector<double> masses_of(const Distribution& distribution) {
  std::vector<double> masses;
  for (std::size_t x = 0; x < distribution.vocabulary(); ++x)
    masses.push_back(distribution[static_cast<Token>(x)]);
  return masses;
}

TEST(RejectionProgram, HasTheSameSolutionInATableauAsByTheLibrary) {
  RandomDistributions random(11);
  const auto bound_of = [&random] { return 0.3 + 1.2 * random.uniform(); };
  int solved = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t size = 2 + random.below(40), k = 1 + random.below(8);
    const std::vector<double> p = masses_of(random.dense(size)), q = masses_of(random.dense(size));
    RatioCuts cuts(p, q, rounding_of_mass, 4096.0);
    // In later rounds the bounds differ between drafts.
    GeneralisedTests tests{.alpha = std::vector(k, 1.0), .bound = std::vector(k, bound_of())};
    if (trial % 3 == 0) {
      for (double& bound : tests.bound) bound = bound_of();
    }
    const RejectionProgram program = program_of_equal_distributions(cuts, tests);
    const auto small = program.solve();
    const auto large = program.solve_by_library();
    ASSERT_EQ(small.has_value(), large.has_value()) << trial;
    if (!small) continue;
    ++solved;
    ASSERT_EQ(small->u.size(), k);
    EXPECT_NEAR(small->u.back(), large->u.back(), 1e-10) << trial;
    EXPECT_NEAR(small->u.back(), program.least().value(), 1e-10) << trial;
    // If there are several minimisers, later objectives select one: the first u that differs must be larger.
    for (std::size_t i = k; i-- > 0;) {
      if (std::abs(small->u[i] - large->u[i]) < 1e-8) continue;
      EXPECT_GT(small->u[i], large->u[i]) << trial << ", u" << i + 1;
      break;
    }
    double before = 1.0;
    for (std::size_t i = 0; i < k; ++i) {
      EXPECT_NEAR(small->u[i], program.sets.p[i] * before - program.sets.q[i] * small->w[i], 1e-12) << trial;
      before = small->u[i];
    }
  }
  EXPECT_GT(solved, 100);
}

}  // namespace
}  // namespace spectr
