// Errata of the papers: a counterexample for each entry of docs/reproduction.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/distributions.h"
#include "lab/simulate.h"
#include "lab/theory/assisted_decoding.h"
#include "lab/theory/joint_counterexamples.h"
#include "lab/theory/joint_decoding.h"
#include "lab/theory/over_acceptance.h"
#include "lab/theory/rejections.h"
#include "lab/theory/subset_k_seq.h"
#include "spectr/base/enumerator.h"
#include "spectr/transport/plan.h"

namespace spectr::lab {
namespace {

std::unique_ptr<TransportPlan> plan(std::string_view name, const DraftDistributions& p,
                                    const Distribution& q) {
  return std::move(find_plan(name).value()->build(p, q, {}).value());
}

/// SpecTr, equation 1: Σ min(p, q) is the acceptance, not the cost.
TEST(PaperSlips, TheOptimalCostIsWhatTheSumOfTheMinimaLeaves) {
  EXPECT_NEAR(plan("maximal", {bernoulli(0.5), 1}, bernoulli(0.75))->acceptance(), 0.5 + 0.25, 1e-15);
}

/// SpecTr, appendix C.1: above ρ* 1 − (1−β)^k is at most ρβ, not at least.
TEST(PaperSlips, AboveTheSmallestDivisionFactorTheInequalityIsTheOtherOne) {
  const auto p = bernoulli(0.5), q = bernoulli(0.75);
  const double rho = 2.0, beta = std::min(p[0], q[0] / rho) + std::min(p[1], q[1] / rho);
  EXPECT_GT(rho, std::get<double>(plan("k-seq", {p, 2}, q)->parameters().at("rho")));
  EXPECT_LT(1.0 - (1.0 - beta) * (1.0 - beta), rho * beta - 0.2);
}

/// SpecTr, Lemma 4: the search for ρ must not end at the largest q/p over p > 0.
TEST(PaperSlips, TheDivisionFactorMayExceedEveryFiniteRatio) {
  const auto p = Distribution::from_weights({1, 1, 0}), q = Distribution::from_weights({1, 1, 2});
  EXPECT_GT(std::get<double>(plan("k-seq", {p, 2}, q)->parameters().at("rho")), 1.7);  // q/p = ½ where p > 0
}

/// SpecTr, Theorem 2: the tokens of a block do not have the target's distribution given the block's length.
TEST(PaperSlips, TheDistributionGivenTheLengthOfTheBlockIsNotTheTargets) {
  const auto p = bernoulli(0.5), q = bernoulli(0.75);
  const auto residual = plan("maximal", {p, 1}, q)->residual();  // blocks of one token end with a correction
  EXPECT_NEAR(total_variation(*residual, q), 0.25, 1e-15);
}

/// SpecTr, Algorithm 4, line 5: drafts come from the small model, not from the large one.
TEST(PaperSlips, DraftsFromTheLargeModelWouldBiasTheOutput) {
  const auto p = bernoulli(0.5), q = bernoulli(0.25);
  const auto built = plan("maximal", {p, 1}, q);
  double of_one = 0.0;
  for (const Token x : {0, 1}) of_one += q[x] * built->conditional(std::span(&x, 1))[1];
  EXPECT_NEAR(of_one, 0.125, 1e-15);  // q has 0.25
}

/// SpecTr++: an empty Ω_i means that draft i is accepted for certain, so u_i = 0 and not u_{i−1}.
TEST(PaperSlips, AnEmptySetAcceptsEverything) {
  const auto p = bernoulli(0.5);
  const std::uint32_t empty[] = {0};
  EXPECT_NEAR(min_rejection(p, p, empty).value(), 0.0, 1e-15);
}

/// SpecTr++, section 3: Ω₁ = {q ≥ p} for one draft is an error: with α = 1, α q/p would exceed 1. {p ≥ q} of
/// Definition 3 allows α = 1 and makes the plan the maximal coupling.
TEST(PaperSlips, TheSetOfOneDraftIsWhereItsOwnProbabilityIsTheLarger) {
  const auto p = bernoulli(0.5), q = bernoulli(0.75);
  const std::uint32_t printed[] = {0b10}, meant[] = {0b01};  // {q ≥ p} is {1}, {p ≥ q} is {0}
  EXPECT_NEAR(min_rejection(p, q, meant).value(), total_variation(p, q), 1e-12);
  EXPECT_GT(q[1] / p[1], 1.0);
  EXPECT_EQ(min_rejection(p, q, printed).value(), 1.0);  // no valid factors: 0 is accepted with ½ > q(0) = ¼
}

/// SpecTr++, Algorithm 1: the factors are said to be positive, but those of its own example 1 are (0, 2).
TEST(PaperSlips, AFactorOfTheExampleIsZero) {
  const auto alphas = std::get<std::vector<double>>(
      plan("str+", {bernoulli(0.5), 2}, bernoulli(0.75))->parameters().at("alphas"));
  EXPECT_NEAR(alphas[0], 0.0, 1e-9);
  EXPECT_NEAR(alphas[1], 2.0, 1e-9);
}

/// Yin et al., UNO: after a rejection, the text draws from the target, the listing from the other model.
TEST(PaperSlips, UnoDrawsFromTheTarget) {
  const double p[] = {0.8, 0.2}, q[] = {0.3, 0.7};
  const BiasedStep uno = biased_step(p, q, 0.0, Correction::uno);
  const double from_draft = std::min(p[0], q[0]) + uno.rejection * p[0];
  EXPECT_NEAR(uno.distribution[0], 0.45, 1e-15);
  EXPECT_NEAR(from_draft, 0.7, 1e-15);
}

/// Yin et al., Algorithm 4: line 28 takes the residual once more, although line 19 has already taken it.
TEST(PaperSlips, TheListingOfBatchesCorrectsFromOneResidualTooMany) {
  const auto p = Distribution::from_weights({0.4, 0.4, 0.2}), q = Distribution::from_weights({0.1, 0.5, 0.4});
  const auto first = plan("recursive", {p, 1}, q);
  const Distribution residual = *first->residual();  // q², from which the token after one rejection is drawn
  EXPECT_NEAR(residual[1], 1.0 / 3.0, 1e-15);
  const Distribution printed = *plan("recursive", {p, 1}, residual)->residual();  // ∝ (q² − p)₊
  const double rejected = 1.0 - first->acceptance();
  EXPECT_NEAR(std::min(p[1], q[1]) + rejected * residual[1], q[1], 1e-15);
  EXPECT_NEAR(std::min(p[1], q[1]) + rejected * printed[1], 0.4, 1e-15);  // q has 0.5
}

/// Yin et al.: T/E[rejections] and T/(1 + E[rejections]) bound the tokens per call from both sides.
TEST(PaperSlips, TokensPerCallLieBetweenThePapersTwoFormulas) {
  const MarkovPair pair = MarkovPair::random(3, 4, 1);
  const double calls = enumerate(pair, "speculative", {}).value().calls,
               rejections = total(expected_rejections(pair));
  EXPECT_GT(calls, rejections + 0.1);
  EXPECT_LT(calls, 1.0 + rejections - 0.1);
}

/// MTAD, Lemma 3.4: likely drafts may have unlikely accepted prefixes. Counterexample: one
/// block of two drafts, the likeliest pair (ε = 0), of which only the first is accepted,
/// although it is not the likeliest token.
TEST(PaperSlips, TheBoundOnThePerplexityOfAssistedDecodingCanBeViolated) {
  const double first[] = {0.4, 0.6, 0.0}, p0[] = {0.9, 0.05, 0.05}, q0[] = {0.05, 0.9, 0.05};
  std::vector<double> p, q;
  for (std::size_t row = 0; row < 6; ++row) {  // three for the first token, three for the second
    const double even[] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
    for (std::size_t y = 0; y < 3; ++y) {
      p.push_back(row < 3 ? first[y] : row == 3 ? p0[y] : even[y]);
      q.push_back(row < 3 ? first[y] : row == 3 ? q0[y] : even[y]);
    }
  }
  const auto a = assisted_decoding(MarkovPair(3, 2, p, q), {.tau = 0.5, .beams = 9, .length = 2});
  ASSERT_TRUE(a.has_value());
  EXPECT_NEAR(a->beam_error(), 0.0, 1e-15);
  EXPECT_NEAR(a->log_perplexity_p - log_perplexity_p_bound(*a, 0.0), std::log(0.6 / 0.4) / 2.0, 1e-12);
}

/// Returns a pair for one block of 20 drafts. The greedy beam leads to rows with 25 equally likely tokens;
/// another path is likely under the target and unlikely under the draft, as far as U = 2 allows.
MarkovPair misled_beam() {
  constexpr std::size_t good = 9, V = good + 25, T = 21;
  const double u = std::exp(-2.0);
  const double rest = u * (1.0 - u) / (1.0 - u * u);  // for good rows: q(0) = 1 − rest, p(0) = u q(0)
  std::vector<double> p, q;
  for (std::size_t n = 0; n < T; ++n) {
    for (std::size_t x = 0; x < V; ++x) {
      std::vector<double> row_p(V, 0.0), row_q(V, 0.0);
      if (n == 0) {
        row_p[0] = 0.499, row_p[good] = 0.501;
        row_q[good] = 0.501 * u, row_q[0] = 1.0 - row_q[good];
      } else if (n == T - 1) {
        row_p[0] = row_q[0] = 1.0;
      } else if (x < good) {
        for (std::size_t y = 1; y < good; ++y) {
          row_q[y] = rest / 8.0;
          row_p[y] = (1.0 - u * (1.0 - rest)) / 8.0;
        }
        row_q[0] = 1.0 - rest, row_p[0] = u * (1.0 - rest);
      } else {
        for (std::size_t y = good; y < V; ++y) row_p[y] = row_q[y] = 1.0 / 25.0;
      }
      p.insert(p.end(), row_p.begin(), row_p.end());
      q.insert(q.end(), row_q.begin(), row_q.end());
    }
  }
  return {V, T, p, q};
}

/// MTAD, Theorem 3.6: γ̄ ≥ |ln τ|/U cannot hold above L + 1 tokens.
TEST(PaperSlips, TokensPerBlockEndAtTheLengthOfTheDraftAndOne) {
  const MarkovPair pair = MarkovPair::alike(4, 8, 0.01, 1);
  const auto a = assisted_decoding(pair, {.tau = 0.1, .beams = 2, .length = 3});
  ASSERT_TRUE(a.has_value());
  const double U = largest_log_ratio(pair);
  EXPECT_GT(-std::log(0.1) / U, 100.0);
  EXPECT_LE(a->tokens_per_full_block, 4.0 + 1e-12);
  EXPECT_GE(a->tokens_per_full_block, tokens_per_call_bound(0.1, 3, U) - 1e-12);
}

/// MTAD, Corollary 3.3: joint decoding can be lured into contexts with only unlikely continuations.
TEST(PaperSlips, JointDecodingMayHaveAHigherPerplexityThanGreedyDecoding) {
  const MarkovPair pair = LuringChain(0.0).pair(2000);
  EXPECT_NEAR(std::exp(joint_decoding_cost(pair, 0, 1).back() / 2000.0), 1.667, 5e-4);
  EXPECT_NEAR(std::exp(joint_decoding_cost(pair, 0, 2).back() / 2000.0), 9.98, 5e-3);
}

/// MTAD, Theorem 3.5: assisted decoding draws tokens from the target and can leave the
/// contexts of joint decoding forever.
TEST(PaperSlips, TheLossOfAssistedDecodingIsNotBoundedByJointDecodingOnOtherContexts) {
  const LeavingChain::Costs c = LeavingChain{}.costs(20000);
  EXPECT_GT(c.assisted - c.joint, 6.85);
  EXPECT_LT(log_loss_bound(0.5, 2.0, 0.0, c.entropy, 0.0), 3.80);
}

/// MTAD, Theorem 3.5: the factor of U is 1 + γ̄ − εγ̄; the printed 1 − ε + γ̄ can be violated.
TEST(PaperSlips, ThePrintedBoundOnTheLossOfAssistedDecodingCanBeViolated) {
  const MarkovPair pair = misled_beam();
  const double tau = 0.135, U = largest_log_ratio(pair), H = entropy_per_token(pair);
  const auto a = assisted_decoding(pair, {.tau = tau, .beams = 1, .length = 20});
  ASSERT_TRUE(a.has_value());
  const double g = a->tokens_per_call, e = a->beam_error();
  const double loss = a->log_perplexity_q - joint_decoding_cost(pair, 0, 21).back() / 21.0;
  const double printed = (-std::log(tau) + (1.0 - e * g) * H + (1.0 - e + g) * U) / g;
  EXPECT_NEAR(U, 2.0, 1e-9);
  EXPECT_GT(loss, printed + 0.1);
  EXPECT_LT(loss, log_loss_bound(tau, g, e, H, U));
}

}  // namespace
}  // namespace spectr::lab
