#include "spectr/transport/programs/linear_program.h"

#include <gtest/gtest.h>

#include <limits>

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using Terms = std::vector<LinearProgram::Term>;
using Costs = std::vector<double>;

TEST(LinearProgram, FindsTheCorner) {
  LinearProgram program(2);
  program.add_row(-infinity, Terms{{0, 1.0}, {1, 1.0}}, 4.0);
  program.add_row(-infinity, Terms{{0, 1.0}, {1, 3.0}}, 6.0);
  const auto x = program.minimise(Costs{-1.0, -2.0});
  ASSERT_TRUE(x.has_value()) << x.error().message;
  EXPECT_NEAR((*x)[0], 3.0, 1e-12);
  EXPECT_NEAR((*x)[1], 1.0, 1e-12);
}

TEST(LinearProgram, TakesRowsBetweenSolutions) {
  LinearProgram program(1);
  program.add_row(-infinity, Terms{{0, 1.0}}, 2.0);
  EXPECT_NEAR(program.minimise(Costs{-1.0}).value()[0], 2.0, 1e-12);
  program.add_row(-infinity, Terms{{0, 2.0}}, 1.0);
  EXPECT_NEAR(program.minimise(Costs{-1.0}).value()[0], 0.5, 1e-12);
}

// The whole edge x + y = 1 is optimal for the first objective; the second one selects its ends.
TEST(LinearProgram, ASecondObjectiveBreaksTiesOfTheFirst) {
  for (const double sign : {1.0, -1.0}) {
    LinearProgram program(2);
    program.add_row(1.0, Terms{{0, 1.0}, {1, 1.0}}, infinity);
    ASSERT_TRUE(program.minimise(Costs{1.0, 1.0}).has_value());
    program.keep_optima();
    const auto x = program.minimise(Costs{sign, 0.0});
    ASSERT_TRUE(x.has_value()) << x.error().message;
    EXPECT_NEAR((*x)[0], sign > 0.0 ? 0.0 : 1.0, 1e-12);
    EXPECT_NEAR((*x)[0] + (*x)[1], 1.0, 1e-12);
  }
}

TEST(LinearProgram, SaysWhyThereIsNoSolution) {
  LinearProgram none(1);
  none.add_row(2.0, Terms{{0, 1.0}}, infinity);
  none.add_row(-infinity, Terms{{0, 1.0}}, 1.0);
  const auto infeasible = none.minimise(Costs{1.0});
  ASSERT_FALSE(infeasible.has_value());
  EXPECT_EQ(infeasible.error().message, "the linear program is infeasible");
  EXPECT_TRUE(infeasible.error().infeasible);

  LinearProgram endless(1);
  endless.add_row(0.0, Terms{{0, 1.0}}, infinity);
  const auto unbounded = endless.minimise(Costs{-1.0});
  ASSERT_FALSE(unbounded.has_value());
  EXPECT_EQ(unbounded.error().message, "the linear program is unbounded");
  EXPECT_FALSE(unbounded.error().infeasible);
}

}  // namespace
}  // namespace spectr
