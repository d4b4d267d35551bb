// Mirostat and adaptive-p: distributions that depend on the probabilities of previous tokens.
#include "spectr/sampling/feedback.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "spectr/sampling/warp.h"

namespace spectr {
namespace {

Distribution distribution_by(const std::vector<double>& weights) {
  return Distribution::from_weights(std::span<const double>(weights));
}

Feedback feedback_by(const WarpOptions& options) {
  return *Feedback::of(options);
}

const Distribution halves = distribution_by({0.5, 0.25, 0.125, 0.125});

TEST(Feedback, OfMirostat2KeepsTokensOfNoMoreThanTheLargestSurprise) {
  const Feedback mirostat = feedback_by({.mirostat = 2, .mirostat_tau = 1.0, .mirostat_eta = 0.5});
  EXPECT_EQ(mirostat.start().first, 2.0) << "twice the wanted surprise";
  const Distribution sampled = mirostat.apply(halves, {.first = 2.0});
  EXPECT_EQ(sampled.size(), 2u) << "1 and 2 bits";
  EXPECT_NEAR(sampled[0], 2.0 / 3, 1e-15);
  EXPECT_EQ(mirostat.apply(halves, {.first = 3.0}).size(), 4u);
  EXPECT_EQ(mirostat.apply(halves, {.first = 0.5})[0], 1.0) << "the likeliest stays";
  const double surprise = -std::log2(1.0 / 3);
  EXPECT_NEAR(mirostat.after({.first = 2.0}, halves, sampled, 1).first, 2.0 - 0.5 * (surprise - 1.0), 1e-15);
  EXPECT_EQ(mirostat.after({.first = 2.0}, halves, sampled, 3).first, 2.0) << "has no probability";
}

// Probabilities 1/r have exponent 1: k = 2^μ / ln N. For r^-2 it is k = (2^μ / (1 - 1/N))^(1/2).
TEST(Feedback, OfMirostat1KeepsAsManyTokensAsAPowerLawAsksFor) {
  constexpr std::size_t N = 1000;
  const Feedback mirostat = feedback_by({.mirostat = 1});
  EXPECT_EQ(mirostat.start().first, 10.0);
  const auto kept = [&](double exponent, double mu) {
    std::vector<double> weights;
    for (std::size_t r = 1; r <= N; ++r) weights.push_back(std::pow(static_cast<double>(r), -exponent));
    return mirostat.apply(distribution_by(weights), {.first = mu}).size();
  };
  EXPECT_EQ(kept(2.0, 10.0), static_cast<std::size_t>(std::sqrt(1024.0 / (1.0 - 1e-3))));
  EXPECT_EQ(kept(2.0, 1.0), 1u);
  EXPECT_NEAR(static_cast<double>(kept(1.0, 10.0)), 1024.0 / std::log(1000.0), 1.0);
  EXPECT_EQ(kept(1.0, 20.0), N) << "all";
  EXPECT_EQ(kept(2.0, -5.0), 1u) << "one stays";
  EXPECT_EQ(kept(0.0, 5.0), 1u) << "equal probabilities";
  EXPECT_EQ(mirostat.apply(Distribution::point(3, N), {.first = 10.0})[3], 1.0);
}

TEST(Feedback, OfAdaptivePPrefersTokensOfTheWantedProbability) {
  const Feedback adaptive = feedback_by({.adaptive_target = 0.25, .adaptive_decay = 0.5});
  const FeedbackState start = adaptive.start();
  EXPECT_EQ(start.first / start.second, 0.25);
  const Distribution sampled = adaptive.apply(halves, start);
  const auto weight = [](double distance) {
    const double d = distance / 0.3;
    return std::exp(5.0 - 10.0 * d * d / (1.0 + d));
  };
  const double total = weight(0.25) + weight(0.0) + 2 * weight(0.125);
  EXPECT_NEAR(sampled[0], weight(0.25) / total, 1e-12);
  EXPECT_NEAR(sampled[1], weight(0.0) / total, 1e-12);
  EXPECT_NEAR(sampled[3], weight(0.125) / total, 1e-12);
  // The average includes the probability before the transformation.
  const FeedbackState next = adaptive.after(start, halves, sampled, 0);
  EXPECT_EQ(next.first, 0.5 + 0.5 * start.first);
  EXPECT_EQ(next.second, 1.0 + 0.5 * start.second);
}

TEST(Feedback, IsNoneUnlessItIsAskedFor) {
  EXPECT_FALSE(Feedback::of({}).has_value());
  EXPECT_FALSE(Feedback::of({.mirostat_tau = 3.0, .adaptive_decay = 0.5}).has_value());
}

}  // namespace
}  // namespace spectr
