// The decoders, enumerated, agree with the closed forms: all randomness, all texts, drafts up to the
// horizon.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <random>
#include <string_view>
#include <vector>

#include "lab/simulate.h"
#include "lab/theory/over_acceptance.h"
#include "lab/theory/rejections.h"
#include "spectr/decode/decoder_distribution.h"
#include "spectr/lm/tabular_model.h"

namespace spectr::lab {
namespace {

constexpr double tolerance = 1e-10;

struct Size {
  std::size_t sequences, states, horizon;
};

void PrintTo(const Size& size, std::ostream* out) {
  *out << size.sequences << " x " << size.states << " x " << size.horizon;
}

class ClosedForm : public testing::TestWithParam<Size> {};

TEST_P(ClosedForm, OfRejectionsAndCallsIsWhatTheDecoderDoes) {
  const auto [M, V, T] = GetParam();
  const MarkovPair pair = MarkovPair::random(V, T, static_cast<std::uint32_t>(100 + M));
  const auto rejections = expected_batch_rejections(pair, M);
  for (const char* method : {"speculative", "batch"}) {
    if (M > 1 && method == std::string_view("speculative")) continue;
    const EnumeratedDecoder decoder = enumerate(pair, method, {.drafts = M}).value();
    EXPECT_NEAR(decoder.corrections, total(rejections), tolerance) << method;
    EXPECT_NEAR(decoder.calls, expected_calls(rejections), tolerance) << method;
    EXPECT_LT(decoder.tv, 1e-12) << method;
  }
}

// The first block has V^(M·T) ≤ 65,536 tuples of drafts.
INSTANTIATE_TEST_SUITE_P(Pairs, ClosedForm,
                         testing::Values(Size{1, 2, 8}, Size{1, 3, 5}, Size{1, 4, 4}, Size{1, 6, 3},
                                         Size{2, 2, 5}, Size{2, 3, 3}, Size{2, 4, 3}, Size{3, 2, 4},
                                         Size{3, 3, 2}, Size{4, 2, 3}, Size{4, 3, 2}, Size{5, 2, 2},
                                         Size{5, 2, 3}));

/// Returns a pair with one draft distribution and one target distribution in all contexts.
MarkovPair constant(const std::vector<double>& p, const std::vector<double>& q, std::size_t horizon) {
  std::vector<double> P, Q;
  for (std::size_t row = 0; row < horizon * p.size(); ++row) {
    P.insert(P.end(), p.begin(), p.end());
    Q.insert(Q.end(), q.begin(), q.end());
  }
  return {p.size(), horizon, P, Q};
}

/// Returns E[tokens] of one block with L drafts.
double tokens_of_a_block(const MarkovPair& pair, std::size_t L) {
  auto decoder = make_decoder(*find_method("speculative").value(), {.length = L});
  OwnedModels models = pair.start(decoder->max_nodes(L + 1));
  const Token text[] = {0};
  return expected_block_tokens(*decoder, models, text, {.horizon = L + 1}).value();
}

/// Chains with acceptance a = 1 − TV have (1 − a^{L+1})/(1 − a) tokens, or L + 1 for a = 1.
TEST(ChainLength, IsAGeometricSumOfTheAcceptance) {
  const std::vector<double> p = {0.5, 0.3, 0.2}, q = {0.2, 0.3, 0.5}, apart = {0.0, 0.0, 1.0};
  for (std::size_t L = 1; L <= 4; ++L) {
    const auto tokens = static_cast<double>(L + 1);
    EXPECT_NEAR(tokens_of_a_block(constant(p, q, L + 1), L), (1.0 - std::pow(0.7, tokens)) / 0.3, 1e-12);
    EXPECT_NEAR(tokens_of_a_block(constant(p, apart, L + 1), L), (1.0 - std::pow(0.2, tokens)) / 0.8, 1e-12);
    EXPECT_NEAR(tokens_of_a_block(constant(p, p, L + 1), L), tokens, 1e-12);
  }
}

class BiasedForm : public testing::TestWithParam<double> {};

TEST_P(BiasedForm, OfOptIsWhatTheDecoderDoes) {
  const MarkovPair pair = MarkovPair::random(3, 5, 21);
  const EnumeratedDecoder decoder = enumerate(pair, "biased-opt", {.epsilon = GetParam()}).value();
  const BiasedText text = biased_text(pair, GetParam(), Correction::opt);
  EXPECT_NEAR(decoder.corrections, text.rejections, tolerance);
  EXPECT_NEAR(text.rejections, text.misses, tolerance);
  EXPECT_NEAR(text.rejections + text.bias, text.distance, tolerance);
}

TEST_P(BiasedForm, OfUnoIsWhatTheDecoderDoes) {
  const MarkovPair pair = MarkovPair::random(3, 5, 21);
  const EnumeratedDecoder decoder = enumerate(pair, "biased-uno", {.epsilon = GetParam()}).value();
  const BiasedText text = biased_text(pair, GetParam(), Correction::uno);
  // After a rejection, the draw from the target may equal the rejected draft: then the walk continues.
  EXPECT_NEAR(decoder.corrections, text.misses, tolerance);
  EXPECT_LE(text.misses, text.rejections);
}

/// The distribution of the whole output is a Markov chain with the distributions of biased_step.
TEST_P(BiasedForm, OfTheTextIsAMarkovChain) {
  const MarkovPair pair = MarkovPair::random(3, 4, 22);
  for (const auto& [method, correction] :
       {std::pair{"biased-opt", Correction::opt}, {"biased-uno", Correction::uno}}) {
    const EnumeratedDecoder decoder = enumerate(pair, method, {.epsilon = GetParam()}).value();
    EXPECT_EQ(decoder.distribution.size(), 243u);
    for (const auto& [text, mass] : decoder.distribution) {
      double chain = 1.0 / 3.0;
      for (std::size_t n = 0; n + 1 < text.size(); ++n) {
        const auto x = static_cast<std::size_t>(text[n]);
        chain *= biased_step(pair.p(n, x), pair.q(n, x), GetParam(), correction)
                     .distribution[static_cast<std::size_t>(text[n + 1])];
      }
      EXPECT_NEAR(mass, chain, 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Epsilons, BiasedForm, testing::Values(0.0, 0.02, 0.1, 0.3, 1.0));

/// If b is below min(1, q/p), there is no bias, and no fewer rejections than with ε = 0 (Theorem 2).
TEST(BelowZero, NothingIsBiasedAndMoreIsRejected) {
  const MarkovPair pair = MarkovPair::random(3, 4, 23);
  double last = total(expected_rejections(pair));
  for (const double epsilon : {0.0, -0.02, -0.1, -0.3, -1.0}) {
    const EnumeratedDecoder decoder = enumerate(pair, "biased-opt", {.epsilon = epsilon}).value();
    const BiasedText text = biased_text(pair, epsilon, Correction::opt);
    EXPECT_LE(decoder.tv, 1e-12);
    EXPECT_NEAR(text.bias, 0.0, 1e-12);
    EXPECT_NEAR(decoder.corrections, text.misses, tolerance);
    EXPECT_GE(text.rejections, last - 1e-12);
    last = text.rejections;
  }
  EXPECT_NEAR(last, 4.0, 1e-12);  // every test fails, as in plain decoding
}

struct Rule {
  std::vector<double> p, q, b;
  double rejection = 0.0;

  /// Returns a correction that fills R r up to (q − b p)₊ token by token, in a random order.
  std::vector<double> corner(std::mt19937& generator) const {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, generator);
    std::vector<double> r(p.size(), 0.0);
    double left = 1.0;
    for (const std::size_t y : order) {
      r[y] = std::min(left, std::max(0.0, q[y] - b[y] * p[y]) / rejection);
      left -= r[y];
    }
    return r;
  }
};

std::vector<double> random_law(std::size_t n, std::mt19937& generator) {
  std::vector<double> law(n);
  double total = 0.0;
  for (double& mass : law) total += mass = uniform53(generator);
  for (double& mass : law) mass /= total;
  return law;
}

Rule random_rule(std::mt19937& generator) {
  Rule rule{random_law(6, generator), random_law(6, generator), {}};
  for (const double p : rule.p) rule.rejection += p * (1.0 - rule.b.emplace_back(uniform53(generator)));
  return rule;
}

/// Theorem 4: for any b, the corrections with R r ≤ (q − b p)₊ have the least bias, and no others do.
TEST(Corrections, WithTheLeastBiasAreAWholeSet) {
  std::mt19937 generator(31);
  std::size_t outside = 0;
  for (int n = 0; n < 300; ++n) {
    const Rule rule = random_rule(generator);
    const double least = min_bias(rule.p, rule.q, rule.b);
    const std::vector<double> one = rule.corner(generator), other = rule.corner(generator);
    std::vector<double> between(one.size());
    for (std::size_t y = 0; y < one.size(); ++y) between[y] = 0.3 * one[y] + 0.7 * other[y];
    for (const auto& r : {one, other, between, correction_of(rule.p, rule.q, rule.b, Correction::opt)}) {
      EXPECT_TRUE(attains_min_bias(rule.p, rule.q, rule.b, r));
      EXPECT_NEAR(biased_step(rule.p, rule.q, rule.b, r).bias, least, 1e-14);
    }
    const std::vector<double> r = random_law(6, generator);
    const double bias = biased_step(rule.p, rule.q, rule.b, r).bias;
    EXPECT_GE(bias, least - 1e-15);
    EXPECT_EQ(attains_min_bias(rule.p, rule.q, rule.b, r), bias <= least + 1e-11);
    outside += bias > least + 1e-11 ? 1 : 0;
    // Rejection and bias are never below the Pareto front.
    EXPECT_GE(rule.rejection + bias, biased_step(rule.p, rule.q, 0.0, Correction::opt).rejection - 1e-15);
  }
  EXPECT_GT(outside, 200u);
}

/// If b ≤ min(1, q/p), Loss* = 0, and the target's residual is the only correction that attains it.
TEST(Corrections, OfUnbiasedRulesAreUnique) {
  std::mt19937 generator(32);
  for (int n = 0; n < 100; ++n) {
    Rule rule = random_rule(generator);
    for (std::size_t y = 0; y < 6; ++y) rule.b[y] *= std::min(1.0, rule.q[y] / rule.p[y]);
    EXPECT_NEAR(min_bias(rule.p, rule.q, rule.b), 0.0, 1e-15);
    std::vector<double> r = correction_of(rule.p, rule.q, rule.b, Correction::opt);
    EXPECT_NEAR(biased_step(rule.p, rule.q, rule.b, r).bias, 0.0, 1e-15);
    std::swap(*std::ranges::max_element(r), *std::ranges::min_element(r));
    EXPECT_FALSE(attains_min_bias(rule.p, rule.q, rule.b, r));
  }
}

/// ε = 0 with the right correction is exact; a token's rejection and bias lie on the line.
TEST(OverAcceptance, OfOptLiesOnTheLineAndAttainsTheLeastBias) {
  const MarkovPair pair = MarkovPair::random(9, 1, 5);
  for (std::size_t x = 0; x < 9; ++x) {
    const auto p = pair.p(0, x), q = pair.q(0, x);
    const double tv = biased_step(p, q, 0.0, Correction::opt).rejection;
    EXPECT_NEAR(biased_step(p, q, 0.0, Correction::opt).bias, 0.0, 1e-15);
    for (const double epsilon : {0.0, 0.01, 0.05, 0.2, 1.0}) {
      const BiasedStep opt = biased_step(p, q, epsilon, Correction::opt);
      EXPECT_NEAR(opt.rejection + opt.bias, tv, 1e-15);
      EXPECT_NEAR(opt.bias, min_bias(p, q, epsilon), 1e-15);
      EXPECT_GE(biased_step(p, q, epsilon, Correction::uno).bias, opt.bias - 1e-15);
    }
  }
}

}  // namespace
}  // namespace spectr::lab
