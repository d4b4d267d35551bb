#include <gtest/gtest.h>

#include "lab/distributions.h"
#include "lab/theory/subset_k_seq.h"

namespace spectr::lab {
namespace {

/// Solves 32,768 linear programs per pair.
TEST(SubsetKSeq, OfPrefixesIsTheBestOfAllTriplesOfSubsets) {
  std::mt19937 generator(6);
  for (int i = 0; i < 3; ++i) {
    const Distribution p = random_distribution(5, generator), q = random_distribution(5, generator);
    EXPECT_NEAR(min_rejection_of_prefixes(p, q, 3, 0.0).value(), min_rejection_of_subsets(p, q, 3).value(),
                1e-9);
  }
}

}  // namespace
}  // namespace spectr::lab
