// Claims of SpecTr and SpecTr++ about procedures that are not implemented as plans.

#include <gtest/gtest.h>

#include <cmath>

#include "lab/distributions.h"
#include "lab/theory/naive_repetition.h"
#include "lab/theory/sinkhorn.h"
#include "spectr/base/enumerator.h"
#include "spectr/transport/acceptance_bounds.h"

namespace spectr::lab {
namespace {

TEST(NaiveRepetition, HasTheDistributionOfItsFormula) {
  std::mt19937 generator(3);
  for (int n = 0; n < 20; ++n) {
    const Distribution p = random_distribution(3, generator), q = random_distribution(3, generator);
    for (std::size_t k = 1; k <= 4; ++k) {
      std::vector<double> found(3, 0.0);
      Enumerator choices;
      do {
        const auto y = static_cast<std::size_t>(naive_repetition(p, q, k, choices));
        found[y] += choices.probability();
      } while (choices.next());
      const std::vector<double> formula = naive_distribution(p, q, k);
      for (std::size_t y = 0; y < 3; ++y) EXPECT_NEAR(found[y], formula[y], 1e-13);
    }
  }
}

/// SpecTr, section 4, with p = Ber(1) and q = Ber(½).
TEST(NaiveRepetition, IsNotValid) {
  for (std::size_t k = 1; k <= 10; ++k) {
    EXPECT_NEAR(naive_distribution(bernoulli(1.0), bernoulli(0.5), k)[1],
                1.0 - std::ldexp(1.0, -static_cast<int>(k)), 1e-15);
  }
  const Distribution q = bernoulli(0.3);
  EXPECT_NEAR(naive_distribution(q, q, 5)[1], 0.3, 1e-15);
}

TEST(Sinkhorn, ComesToTheOptimumFromBelow) {
  std::mt19937 generator(4);
  for (int n = 0; n < 10; ++n) {
    const Distribution p = random_distribution(4, generator), q = random_distribution(4, generator);
    for (const std::size_t k : {1, 2, 3}) {
      const double optimum = optimal_acceptance(p, q, k);
      for (const double regularisation : {0.2, 0.05}) {
        const Sinkhorn found = sinkhorn(p, q, k, {.regularisation = regularisation});
        EXPECT_LE(found.acceptance, optimum + 1e-12);
        const double entropy = std::log(4.0) * static_cast<double>(k + 1);
        EXPECT_GE(found.acceptance, optimum - regularisation * entropy - 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace spectr::lab
