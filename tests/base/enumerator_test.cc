#include "spectr/base/enumerator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/counter_random.h"
#include "tests/support/chi_square.h"

namespace spectr {
namespace {

using Weights = std::vector<double>;
using Sets = std::map<RecycledVector<std::size_t>, double>;

// A process in which the number and the weights of later draws depend on earlier ones.
std::vector<std::size_t> branching(Choices& choices) {
  std::vector<std::size_t> path = {choices.draw(Weights{0.5, 0.0, 0.2, 0.3})};
  for (std::size_t i = 0; i < path.front(); ++i) {
    path.push_back(choices.draw(Weights{1.0 + static_cast<double>(path.back()), 2.0, 0.0}));
  }
  if (choices.accept(0.25)) path.push_back(99);
  return path;
}

TEST(Enumerator, ProbabilitiesOfAllOutcomesSumToOne) {
  Enumerator outcomes;
  double total = 0.0;
  std::set<std::vector<std::size_t>> seen;
  do {
    const auto path = branching(outcomes);
    EXPECT_TRUE(seen.insert(path).second) << "an outcome came twice";
    EXPECT_GT(outcomes.probability(), 0.0);
    total += outcomes.probability();
  } while (outcomes.next());
  EXPECT_NEAR(total, 1.0, 1e-15);
  EXPECT_EQ(seen.size(), 2 * (1 + 4 + 8u));  // 0, 2 or 3 more draws with two values each, and the final test
}

TEST(Enumerator, GivesEveryOutcomeItsOwnProbability) {
  Enumerator outcomes;
  do {
    const auto path = branching(outcomes);
    double p = path.front() == 0 ? 0.5 : path.front() == 2 ? 0.2 : 0.3;
    for (std::size_t i = 0; i < path.front(); ++i) {
      const double first = 1.0 + static_cast<double>(path[i]);
      p *= (path[i + 1] == 0 ? first : 2.0) / (first + 2.0);
    }
    p *= path.back() == 99 ? 0.25 : 0.75;
    EXPECT_NEAR(outcomes.probability(), p, 1e-16);
  } while (outcomes.next());
}

TEST(Enumerator, CodeWithoutChoicesHasOneOutcome) {
  Enumerator outcomes;
  EXPECT_EQ(outcomes.probability(), 1.0);
  EXPECT_FALSE(outcomes.next());
}

TEST(Enumerator, FindsOutThatCodeIsNoFunctionOfItsChoices) {
  for (const Weights& others : {Weights{1.0, 1.0, 1.0}, Weights{1.5, 0.5}}) {
    Enumerator outcomes;
    outcomes.draw(Weights{1.0, 1.0});
    ASSERT_TRUE(outcomes.next());
    EXPECT_THROW(outcomes.draw(others), BrokenContract);
  }
  EXPECT_THROW(Enumerator().draw(Weights{0.0}), BrokenContract);
}

TEST(Choices, DifferentIndicesComeOneAfterAnotherInProportionToWhatIsLeft) {
  const Weights weights = {0.5, 0.0, 0.3, 0.2};
  Enumerator outcomes;
  std::size_t seen = 0;
  do {
    const auto drawn = outcomes.draw_different(weights, 2);
    ASSERT_EQ(drawn.size(), 2u);
    const double first = weights[drawn[0]], second = weights[drawn[1]];
    EXPECT_NEAR(outcomes.probability(), first * second / (1.0 - first), 1e-15);
    ++seen;
  } while (outcomes.next());
  EXPECT_EQ(seen, 6u);
}

/// Returns the distribution of the set by enumerating all orders in which it can be drawn.
Sets by_orders(const Weights& weights, std::size_t k) {
  Sets distribution;
  Enumerator outcomes;
  do {
    const auto set = outcomes.Choices::draw_set(weights, k);
    distribution[set] += outcomes.probability();
  } while (outcomes.next());
  return distribution;
}

Sets by_sets(const Weights& weights, std::size_t k) {
  Sets distribution;
  Enumerator outcomes;
  do {
    const auto set = outcomes.draw_set(weights, k);
    EXPECT_FALSE(distribution.contains(set)) << "a set came twice";
    distribution[set] += outcomes.probability();
  } while (outcomes.next());
  return distribution;
}

TEST(Enumerator, SetsHaveTheDistributionOfTheirOrderedEnumeration) {
  const std::vector<Weights> cases = {{0.4, 0.3, 0.2, 0.1},
                                      {5.0, 0.0, 1e-9, 2.0, 0.0},
                                      {1.0, 1.0, 1.0, 1.0, 1.0},
                                      {0.9999, 1e-12, 1e-300, 3.0},
                                      {0.0, 0.0, 2.0}};
  for (const Weights& weights : cases) {
    for (std::size_t k = 0; k <= weights.size() + 1; ++k) {
      const Sets expected = by_orders(weights, k), found = by_sets(weights, k);
      ASSERT_EQ(found.size(), expected.size()) << k;
      double total = 0.0;
      for (const auto& [set, p] : expected) {
        ASSERT_TRUE(found.contains(set));
        EXPECT_NEAR(found.at(set), p, 1e-14);
        total += found.at(set);
      }
      EXPECT_NEAR(total, 1.0, 1e-14);
    }
  }
}

// Sets are drawn with the enumerated distribution. The false-alarm rate is 1e-6.
TEST(Enumerator, SetsHaveTheDistributionOfTheGenerator) {
  const Weights weights = {0.4, 0.3, 0.2, 0.1};
  const Sets distribution = by_sets(weights, 2);
  std::map<RecycledVector<std::size_t>, std::uint64_t> drawn;
  for (std::uint64_t n = 0; n < 20'000; ++n) ++drawn[CounterRandom(23, n).draw_set(weights, 2)];
  Weights expected;
  std::vector<std::uint64_t> counts;
  for (const auto& [set, p] : distribution) {
    expected.push_back(p);
    counts.push_back(drawn[set]);
  }
  EXPECT_GT(test::chi_square_p_value(counts, expected), 1e-6);
}

}  // namespace
}  // namespace spectr
