#include "tests/lab/drawn_pictures.h"

namespace spectr::lab {
namespace {

class SlowPicture : public testing::TestWithParam<const char*> {};

/// Compares the pictures that take seconds, excluding those that need minutes or models.
TEST_P(SlowPicture, IsTheCommittedOne) {
  expect_committed_picture(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Pictures, SlowPicture,
                         testing::Values("spectrpp-5", "pareto-markov", "batch-improvement"));

}  // namespace
}  // namespace spectr::lab
