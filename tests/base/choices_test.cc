#include "spectr/base/choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "spectr/base/check.h"
#include "spectr/base/counter_random.h"
#include "tests/support/chi_square.h"

namespace spectr {
namespace {

using Weights = std::vector<double>;

// Known answers for philox4x64-10, published by Random123 (tests/kat_vectors).
TEST(Philox, GivesThePublishedAnswers) {
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  using Counter = std::array<std::uint64_t, 4>;
  EXPECT_EQ(philox4x64({0, 0, 0, 0}, {0, 0}),
            (Counter{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  EXPECT_EQ(philox4x64({ones, ones, ones, ones}, {ones, ones}),
            (Counter{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
  EXPECT_EQ(philox4x64({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                       {0x452821e638d01377, 0xbe5466cf34e90c6c}),
            (Counter{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

/// Draws at a place from enough equal weights that equal draws cannot be coincidence.
std::vector<std::size_t> draws_at(CounterRandom& random, const Place& place, int count = 3) {
  const Weights flat(1 << 16, 1.0);
  std::vector<std::size_t> drawn;
  random.enter(place);
  for (int i = 0; i < count; ++i) drawn.push_back(random.draw(flat));
  return drawn;
}

TEST(CounterRandom, IsAFunctionOfSeedSamplePlaceAndDraw) {
  const Place here = {3, 1, 4, Purpose::draft};
  CounterRandom one(7, 2), two(7, 2);
  const auto first = draws_at(one, here);
  draws_at(two, {9, 9, 9, Purpose::bonus}, 17);  // earlier draws at other places have no effect
  EXPECT_EQ(draws_at(two, here), first);
  EXPECT_EQ(draws_at(one, here), first);
}

TEST(CounterRandom, ChangesWithEveryPartOfTheKey) {
  std::set<std::vector<std::size_t>> seen;
  const auto add = [&seen](std::uint64_t seed, std::uint64_t sample, const Place& place) {
    CounterRandom random(seed, sample);
    return seen.insert(draws_at(random, place)).second;
  };
  EXPECT_TRUE(add(1, 0, {0, 0, 0, Purpose::draft}));
  EXPECT_TRUE(add(2, 0, {0, 0, 0, Purpose::draft}));
  EXPECT_TRUE(add(1, 1, {0, 0, 0, Purpose::draft}));
  EXPECT_TRUE(add(1, 0, {1, 0, 0, Purpose::draft}));
  EXPECT_TRUE(add(1, 0, {0, 1, 0, Purpose::draft}));
  EXPECT_TRUE(add(1, 0, {0, 0, 1, Purpose::draft}));
  for (Purpose purpose : {Purpose::select, Purpose::residual, Purpose::bonus, Purpose::test}) {
    EXPECT_TRUE(add(1, 0, {0, 0, 0, purpose}));
  }
  const auto all = draws_at(*std::make_unique<CounterRandom>(1), {0, 0, 0, Purpose::draft});
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());  // the draws of one place differ
}

TEST(CounterRandom, NeverDrawsWeightZero) {
  CounterRandom random(5);
  const Weights zeros_around = {0.0, 1e-300, 0.0, 2e-300, 0.0};
  const Weights last_only = {0.0, 0.0, 5e-324};
  for (std::uint64_t block = 0; block < 2000; ++block) {
    random.enter({.block = block});
    const std::size_t drawn = random.draw(zeros_around);
    ASSERT_TRUE(drawn == 1 || drawn == 3) << drawn;
    ASSERT_EQ(random.draw(last_only), 2u);
  }
}

TEST(CounterRandom, RefusesWeightsWithoutADistribution) {
  CounterRandom random(5);
  EXPECT_THROW(random.draw(Weights{}), BrokenContract);
  EXPECT_THROW(random.draw(Weights{0.0, 0.0}), BrokenContract);
  EXPECT_THROW(random.draw(Weights{1.0, std::numeric_limits<double>::quiet_NaN()}), BrokenContract);
  EXPECT_THROW(random.draw(Weights{1.0, std::numeric_limits<double>::infinity()}), BrokenContract);
}

/// Counts draws over many places: one draw at each place `place_of(n)`.
template <class PlaceOf>
std::vector<std::uint64_t> count(const Weights& weights, std::uint64_t draws, PlaceOf place_of) {
  std::vector<std::uint64_t> counts(weights.size(), 0);
  CounterRandom random(11);
  for (std::uint64_t n = 0; n < draws; ++n) {
    random.enter(place_of(n));
    ++counts[random.draw(weights)];
  }
  return counts;
}

// The false-alarm rate is 1e-6 for each of the four ways of counting.
TEST(CounterRandom, DrawsInProportionToTheWeights) {
  const Weights weights = {3.0, 0.0, 1.0, 0.5, 7.0, 0.01, 0.24};
  Weights distribution = weights;
  for (double& w : distribution) w /= 11.75;
  const std::uint64_t draws = 50'000;
  const auto p = [&](auto place_of) {
    return test::chi_square_p_value(count(weights, draws, place_of), distribution);
  };
  EXPECT_GT(p([](std::uint64_t n) { return Place{.block = n}; }), 1e-6);
  EXPECT_GT(p([](std::uint64_t n) { return Place{.node = n}; }), 1e-6);
  EXPECT_GT(p([](std::uint64_t n) { return Place{.position = n}; }), 1e-6);
  std::vector<std::uint64_t> counts(weights.size(), 0);
  CounterRandom random(12);
  for (std::uint64_t n = 0; n < draws; ++n) ++counts[random.draw(weights)];
  EXPECT_GT(test::chi_square_p_value(counts, distribution), 1e-6);
}

// Neighbouring places are independent. 16 joint cells; false-alarm rate 1e-6 for each part of the key.
TEST(CounterRandom, NeighbouringPlacesAreIndependent) {
  const Weights four(4, 1.0), distribution(16, 1.0 / 16.0);
  const auto p = [&](auto place_of) {
    std::vector<std::uint64_t> counts(16, 0);
    CounterRandom random(13);
    for (std::uint64_t n = 0; n < 20'000; ++n) {
      random.enter(place_of(2 * n));
      const std::size_t a = random.draw(four);
      random.enter(place_of(2 * n + 1));
      ++counts[4 * a + random.draw(four)];
    }
    return test::chi_square_p_value(counts, distribution);
  };
  EXPECT_GT(p([](std::uint64_t n) { return Place{.block = n}; }), 1e-6);
  EXPECT_GT(p([](std::uint64_t n) { return Place{.node = n}; }), 1e-6);
  EXPECT_GT(p([](std::uint64_t n) { return Place{.position = n}; }), 1e-6);
  EXPECT_GT(p([](std::uint64_t n) {
              return Place{.block = n / 2, .purpose = n % 2 == 0 ? Purpose::draft : Purpose::select};
            }),
            1e-6);
}

// A weight far below one unit in the last place of the running sum must not swallow or shift its neighbours,
// wherever it occurs. The false-alarm rate is 1e-6.
TEST(CounterRandom, TinyWeightsLeaveTheOthersAlone) {
  Weights weights(300, 1e-18);
  weights[0] = 1.0;
  weights[150] = 2.0;
  weights[299] = 1.0;
  const auto counts = count(weights, 20'000, [](std::uint64_t n) { return Place{.block = n}; });
  EXPECT_EQ(counts[0] + counts[150] + counts[299], 20'000u);  // the other 297 weights sum to 3e-16
  EXPECT_GT(
      test::chi_square_p_value(std::vector{counts[0], counts[150], counts[299]}, Weights{0.25, 0.5, 0.25}),
      1e-6);
}

TEST(Choices, AcceptDrawsNothingWhereTheAnswerIsCertain) {
  class NoDraws final : public Choices {
   public:
    std::size_t draw(std::span<const double>) override { throw std::logic_error("a draw"); }
    void enter(const Place&) override {}
  } none;
  EXPECT_TRUE(none.accept(1.0));
  EXPECT_TRUE(none.accept(1.5));
  EXPECT_FALSE(none.accept(0.0));
  EXPECT_FALSE(none.accept(-0.5));
  EXPECT_FALSE(none.accept(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_THROW(none.accept(0.5), std::logic_error);
}

// 10,000 tests of probability 0.3 must be within six standard deviations: false-alarm rate 2e-9.
TEST(Choices, AcceptIsTrueWithItsProbability) {
  CounterRandom random(17);
  int accepted = 0;
  for (int n = 0; n < 10'000; ++n) accepted += random.accept(0.3) ? 1 : 0;
  EXPECT_NEAR(accepted, 3000, 6 * 46);
}

TEST(Choices, ASetHoldsDifferentIndicesOfPositiveWeight) {
  CounterRandom random(19);
  const Weights weights = {0.0, 5.0, 1e-12, 0.0, 3.0};
  for (std::uint64_t block = 0; block < 200; ++block) {
    random.enter({.block = block});
    const auto two = random.draw_set(weights, 2);
    ASSERT_EQ(two.size(), 2u);
    ASSERT_LT(two[0], two[1]);
    for (std::size_t i : two) ASSERT_GT(weights[i], 0.0);
  }
  EXPECT_EQ(random.draw_set(weights, 9), (RecycledVector<std::size_t>{1, 2, 4}));
  EXPECT_TRUE(random.draw_set(weights, 0).empty());
}

}  // namespace
}  // namespace spectr
