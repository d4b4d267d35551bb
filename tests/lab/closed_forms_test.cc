// The decoders themselves, enumerated, against the closed forms: all randomness, all texts, drafts up to the
// horizon.

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string_view>

#include "lab/simulate.h"
#include "lab/theory/over_acceptance.h"
#include "lab/theory/rejections.h"
#include "spectr/base/enumerator.h"

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

// V^(M·T) ≤ 65,536 tuples of drafts in the first block.
INSTANTIATE_TEST_SUITE_P(Pairs, ClosedForm,
                         testing::Values(Size{1, 2, 8}, Size{1, 3, 5}, Size{1, 4, 4}, Size{1, 6, 3},
                                         Size{2, 2, 5}, Size{2, 3, 3}, Size{2, 4, 3}, Size{3, 2, 4},
                                         Size{3, 3, 2}, Size{4, 2, 3}, Size{4, 3, 2}, Size{5, 2, 2},
                                         Size{5, 2, 3}));

/// One distribution of the draft and one of the target everywhere.
MarkovPair constant(const std::vector<double>& p, const std::vector<double>& q, std::size_t horizon) {
  std::vector<double> P, Q;
  for (std::size_t row = 0; row < horizon * p.size(); ++row) {
    P.insert(P.end(), p.begin(), p.end());
    Q.insert(Q.end(), q.begin(), q.end());
  }
  return {p.size(), horizon, P, Q};
}

/// E[tokens] of one block with L drafts.
double tokens_of_a_block(const MarkovPair& pair, std::size_t L) {
  auto decoder = make_decoder(*find_method("speculative").value(), {.length = L});
  Models models = pair.start(decoder->max_nodes(L + 1));
  const Token text[] = {0};
  double tokens = 0.0;
  Enumerator choices;
  do {
    const auto block = decoder->step({text, L + 1, 0, {}}, models, choices);
    tokens += choices.probability() * static_cast<double>(block->tokens.size());
  } while (choices.next());
  return tokens;
}

/// Chains with acceptance a = 1 − TV: (1 − a^{L+1})/(1 − a) tokens, L + 1 for a = 1.
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
  // A draw from the target after a rejection may be the rejected draft: then the walk goes on.
  EXPECT_NEAR(decoder.corrections, text.misses, tolerance);
  EXPECT_LE(text.misses, text.rejections);
}

/// The whole distribution of the output: a Markov chain with the distributions of biased_step.
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

/// ε = 0 with the right correction is exact, and one token's rejection and bias lie on the line.
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
