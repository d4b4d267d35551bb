// Penalties for tokens that would extend a repetition.
#include "spectr/sampling/dry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "spectr/sampling/warp.h"
#include "tests/support/value_of.h"

namespace spectr {
namespace {

using test::value_of;

TEST(Dry, HasTheValuesOfLlamaCpp) {
  struct Case {
    double multiplier;
    std::size_t allowed_length, last_n;
    std::vector<Token> history;
    std::vector<double> expected;
    SequenceBreakers breakers;
  };
  const Case cases[] = {
      {1, 2, 4, {0, 1}, {0.25, 0.25, 0.25, 0.25}, {}},
      {1, 2, 5, {0, 1, 2, 0, 1}, {0.296923, 0.296923, 0.109232, 0.296923}, {}},
      {1, 2, 6, {0, 1, 3, 4, 0, 1}, {0.2, 0.2, 0.2, 0.2, 0.2}, {{3, {}}}},
      {2, 2, 5, {0, 1, 2, 0, 1}, {0.241818, 0.241818, 0.032727, 0.241818, 0.241818}, {}},
      {1, 4, 7, {0, 1, 2, 3, 4, 0, 1}, {0.2, 0.2, 0.2, 0.2, 0.2}, {}},
  };
  for (const Case& c : cases) {
    WarpOptions o = WarpOptions::none();
    o.dry = {.multiplier = c.multiplier,
             .base = 1.1,
             .allowed_length = c.allowed_length,
             .penalty_last_n = c.last_n,
             .breakers = std::make_shared<SequenceBreakers>(c.breakers)};
    const std::vector<double> row(c.expected.size(), -1.0);
    const Distribution found =
        value_of(value_of(Warp::make(o)).distribution(std::span(row), c.history, row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      EXPECT_NEAR(found[static_cast<Token>(i)], c.expected[i], 1e-5) << i;
  }
}

/// Computes DRY's penalties by comparing the end of the sequence with every earlier position.
std::map<Token, double> plain_dry(const DryOptions& dry, std::vector<Token> sequence) {
  if (sequence.size() > dry.penalty_last_n)
    sequence.erase(sequence.begin(), sequence.end() - static_cast<std::ptrdiff_t>(dry.penalty_last_n));
  std::map<Token, double> penalties;
  for (std::size_t end = 1; end < sequence.size(); ++end) {  // end of an earlier occurrence
    std::size_t length = 0;
    while (length < end && sequence[end - 1 - length] == sequence[sequence.size() - 1 - length]) ++length;
    if (length < dry.allowed_length || sequence.size() <= dry.allowed_length) continue;
    const double exponent = static_cast<double>(length - dry.allowed_length);
    double& penalty = penalties[sequence[end]];
    penalty = std::max(penalty, dry.multiplier * std::pow(dry.base, exponent));
  }
  return penalties;
}

TEST(Dry, FindsEveryRepetition) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const DryOptions dry{
        .multiplier = 0.8, .base = 1.5, .allowed_length = random() % 4, .penalty_last_n = 1 + random() % 30};
    std::vector<Token> sequence(random() % 40);
    for (Token& token : sequence) token = static_cast<Token>(random() % 3);
    std::map<Token, double> found;
    for (const auto& [token, penalty] : dry_penalties(dry, sequence)) {
      EXPECT_FALSE(found.contains(token));
      found[token] = penalty;
    }
    const auto expected = plain_dry(dry, sequence);
    ASSERT_EQ(found.size(), expected.size()) << "round " << round;
    for (const auto& [token, penalty] : expected)
      ASSERT_NEAR(found[token], penalty, 1e-9) << "round " << round;
  }
}

TEST(Dry, StopsAtABreakerOfSeveralTokens) {
  const DryOptions dry{
      .multiplier = 1.0,
      .base = 2.0,
      .allowed_length = 1,
      .penalty_last_n = 100,
      .breakers = std::make_shared<SequenceBreakers>(SequenceBreakers{{7, {8}}, {7, {8, 9}}})};
  const auto penalty = [&](const std::vector<Token>& sequence) {
    const auto penalties = dry_penalties(dry, sequence);
    return penalties.empty() ? 0.0 : penalties.front().penalty;
  };
  EXPECT_EQ(penalty({1, 7, 8, 9, 2, 5, 1, 7, 8, 9, 2}), 1.0) << "one token after the longer breaker";
  EXPECT_EQ(penalty({1, 7, 8, 3, 2, 5, 1, 7, 8, 3, 2}), 2.0) << "two after the shorter one";
  EXPECT_EQ(penalty({1, 7, 6, 9, 2, 5, 1, 7, 6, 9, 2}), 16.0) << "the first token alone breaks nothing";
}

}  // namespace
}  // namespace spectr
