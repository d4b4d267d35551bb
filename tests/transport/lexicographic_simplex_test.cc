// Small linear programs with objectives of first, second and later rank.
#include "spectr/transport/programs/lexicographic_simplex.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "spectr/transport/programs/linear_program.h"

namespace spectr {
namespace {

using Numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(LexicographicSimplex, FindsTheCorner) {
  LexicographicSimplex program(2);
  program.add_row(Numbers{1, 1}, 4);
  program.add_row(Numbers{1, 3}, 6);
  program.add_objective(Numbers{1, 2});
  const auto x = program.maximise();
  ASSERT_TRUE(x);
  EXPECT_NEAR((*x)[0], 3.0, 1e-14);
  EXPECT_NEAR((*x)[1], 1.0, 1e-14);
}

TEST(LexicographicSimplex, BreaksTiesByLaterObjectives) {
  for (const double sign : {1.0, -1.0}) {
    LexicographicSimplex program(2);
    program.add_row(Numbers{1, 1}, 1);
    program.add_objective(Numbers{1, 1});
    program.add_objective(Numbers{sign, 0});
    const auto x = program.maximise();
    ASSERT_TRUE(x);
    EXPECT_NEAR((*x)[0], sign > 0 ? 1.0 : 0.0, 1e-14);
    EXPECT_NEAR((*x)[0] + (*x)[1], 1.0, 1e-14);
  }
}

TEST(LexicographicSimplex, BeginsWhereZeroIsNotFeasible) {
  LexicographicSimplex program(2);
  program.add_row(Numbers{-1, -1}, -1);
  program.add_row(Numbers{-1, 0}, -0.25);
  program.add_objective(Numbers{-1, -2});
  program.add_objective(Numbers{1, 0});
  const auto x = program.maximise();
  ASSERT_TRUE(x);
  EXPECT_NEAR((*x)[0], 1.0, 1e-14);
  EXPECT_NEAR((*x)[1], 0.0, 1e-14);
  LexicographicSimplex none(1);
  none.add_row(Numbers{1}, 1);
  none.add_row(Numbers{-1}, -2);
  none.add_objective(Numbers{1});
  EXPECT_FALSE(none.maximise());
}

TEST(LexicographicSimplex, TakesRowsAndObjectivesOfNothing) {
  LexicographicSimplex program(2);
  program.add_row(Numbers{0, 0}, 1);
  program.add_row(Numbers{1, 1}, 1);
  program.add_objective(Numbers{0, 0});
  program.add_objective(Numbers{1, 0});
  const auto x = program.maximise();
  ASSERT_TRUE(x);
  EXPECT_EQ((*x)[0], 1.0);
  LexicographicSimplex none(1);
  none.add_row(Numbers{0}, -1);
  none.add_objective(Numbers{1});
  EXPECT_FALSE(none.maximise());
}

TEST(LexicographicSimplex, SaysWhereThereIsNoMaximum) {
  LexicographicSimplex program(2);
  program.add_row(Numbers{1, -1}, 1);
  program.add_objective(Numbers{1, 1});
  EXPECT_FALSE(program.maximise());
}

TEST(LexicographicSimplex, EndsWhereManyRowsMeetInACorner) {
  // Beale's program, on which the plain pivoting rule cycles forever.
  LexicographicSimplex program(4);
  program.add_row(Numbers{0.25, -60, -1.0 / 25, 9}, 0);
  program.add_row(Numbers{0.5, -90, -1.0 / 50, 3}, 0);
  program.add_row(Numbers{0, 0, 1, 0}, 1);
  program.add_objective(Numbers{0.75, -150, 0.02, -6});
  const auto x = program.maximise();
  ASSERT_TRUE(x);
  EXPECT_NEAR(0.75 * (*x)[0] - 150 * (*x)[1] + 0.02 * (*x)[2] - 6 * (*x)[3], 0.05, 1e-12);
}

TEST(LexicographicSimplex, AgreesWithTheLibrarysSolver) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-0.3, 1.0);
  int feasible = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t columns = 1 + random() % 8, rows = 1 + random() % 12;
    LexicographicSimplex small(columns);
    LinearProgram large(columns);
    const auto add = [&](const Numbers& a, double b) {
      small.add_row(a, b);
      std::vector<LinearProgram::Term> terms;
      for (std::size_t j = 0; j < columns; ++j) terms.push_back({j, a[j]});
      large.add_row(-infinity, terms, b);
    };
    add(Numbers(columns, 1.0), 5.0);  // keeps it bounded
    if (trial % 2 == 0) add(Numbers(columns, -1.0), -0.1);
    Numbers a(columns);
    for (std::size_t i = 0; i < rows; ++i) {
      for (double& one : a) one = random() % 3 == 0 ? 0.0 : number(random);
      add(a, random() % 4 == 0 ? 0.0 : number(random) + 0.3);
    }
    Numbers first(columns), second(columns);
    for (double& one : first) one = random() % 2 == 0 ? 1.0 : number(random);
    for (double& one : second) one = number(random);
    small.add_objective(first);
    small.add_objective(second);
    const auto x = small.maximise();
    Numbers least = first;
    for (double& one : least) one = -one;
    const auto y = large.minimise(least);
    ASSERT_EQ(x.has_value(), y.has_value()) << trial;
    if (!x) continue;
    ++feasible;
    large.keep_optima();
    for (std::size_t j = 0; j < columns; ++j) least[j] = -second[j];
    const auto z = large.minimise(least);
    ASSERT_TRUE(z) << trial;
    const auto of = [&](const Numbers& c, const Numbers& at) {
      double sum = 0.0;
      for (std::size_t j = 0; j < columns; ++j) sum += c[j] * at[j];
      return sum;
    };
    EXPECT_NEAR(of(first, *x), of(first, *y), 1e-9) << trial;
    EXPECT_NEAR(of(second, *x), of(second, *z), 1e-9) << trial;
  }
  EXPECT_GT(feasible, 100);
  EXPECT_LT(feasible, 200);
}

}  // namespace
}  // namespace spectr
