// Counterexamples to MTAD's corollary 3.3 and theorem 3.5, and the theorems that hold instead.

#include "lab/theory/joint_counterexamples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "lab/theory/assisted_decoding.h"
#include "lab/theory/best_cycle.h"
#include "lab/theory/joint_decoding.h"

namespace spectr::lab {
namespace {

/// Returns the rows of a chain with some zero entries; every state has a successor.
std::vector<double> random_rows(std::size_t states, double share_of_zeros, std::mt19937& generator) {
  std::vector<double> rows(states * states);
  for (std::size_t x = 0; x < states; ++x) {
    double total = 0.0;
    for (std::size_t y = 0; y < states; ++y) {
      const bool zero = y != (x + 1) % states && uniform53(generator) < share_of_zeros;
      total += rows[x * states + y] = zero ? 0.0 : std::pow(uniform53(generator) + 1e-3, 3.0);
    }
    for (std::size_t y = 0; y < states; ++y) rows[x * states + y] /= total;
  }
  return rows;
}

std::vector<double> repeated(const std::vector<double>& rows, std::size_t horizon) {
  std::vector<double> all;
  for (std::size_t n = 0; n < horizon; ++n) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

/// Returns max log q of m tokens after x, over all ends or only those at `end`.
double max_log_q(const std::vector<double>& rows, std::size_t states, std::size_t m, std::size_t x,
                 std::optional<std::size_t> end = {}) {
  if (m == 0) return !end || *end == x ? 0.0 : -std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  for (std::size_t y = 0; y < states; ++y) {
    if (rows[x * states + y] > 0.0)
      max = std::max(max, std::log(rows[x * states + y]) + max_log_q(rows, states, m - 1, y, end));
  }
  return max;
}

TEST(BestCycle, HasTheLargestMeanOfAllCycles) {
  std::mt19937 generator(1);
  for (int i = 0; i < 40; ++i) {
    const std::size_t states = 1 + static_cast<std::size_t>(i) % 5;
    const auto rows = random_rows(states, 0.4, generator);
    const BestCycle cycle = best_cycle(rows, states, 0);
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t x = 0; x < states; ++x) {  // each x is on a cycle, because x → x + 1 is possible
      for (std::size_t m = 1; m <= states; ++m)
        best = std::max(best, max_log_q(rows, states, m, x, x) / static_cast<double>(m));
    }
    EXPECT_NEAR(cycle.mean, best, 1e-12);
  }
}

/// Tests parts 1 and 2 of the theorem for every state, number of tokens and block.
TEST(BestCycle, BoundsTheLikelihoodOfEverySequenceAndOfEveryLikeliestBlock) {
  std::mt19937 generator(2);
  for (int i = 0; i < 60; ++i) {
    const std::size_t states = 2 + static_cast<std::size_t>(i) % 5, tokens = 24;
    const auto rows = random_rows(states, 0.5, generator);
    const BestCycle cycle = best_cycle(rows, states, 0);
    const MarkovPair pair(states, tokens, repeated(rows, tokens), repeated(rows, tokens));
    const LikeliestBlocks blocks(pair, [&](std::size_t n, std::size_t x) { return pair.q(n, x); }, tokens);
    for (std::size_t x = 0; x < states; ++x) {
      for (std::size_t m = 1; m <= tokens; ++m) {
        const double most = blocks.log_likelihood(m, 0, x), n = static_cast<double>(m);
        EXPECT_LE(most, cycle.mean * (n - std::min(n, static_cast<double>(states - 1))) + 1e-9);
        EXPECT_GE(most, cycle.mean * n - cycle.cost[x] - 1e-9);
      }
      for (const std::size_t block : {1, 2, 3, 4, 6}) {
        const double n = static_cast<double>(tokens);
        EXPECT_LE(joint_decoding_cost(pair, x, block).back() / n,
                  -cycle.mean + cycle.return_cost() / static_cast<double>(block) + 1e-9);
      }
    }
  }
}

TEST(BestCycle, ThatCannotBeReachedDoesNotCount) {
  // No other state leads to 2, and 2 → 2 is certain.
  const std::vector<double> chain = {0.5, 0.5, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 1.0};
  EXPECT_NEAR(best_cycle(chain, 3, 0).mean, std::log(0.5), 1e-15);
  EXPECT_EQ(best_cycle(chain, 3, 2).mean, 0.0);
  EXPECT_TRUE(std::isinf(best_cycle(chain, 3, 0).cost[2]));
  EXPECT_TRUE(std::isfinite(best_cycle(chain, 3, 0).return_cost()));
}

TEST(LuringChain, MakesJointDecodingWorseThanGreedyDecoding) {
  const MarkovPair pair = LuringChain(0.0).pair(2000);
  EXPECT_NEAR(std::exp(joint_decoding_cost(pair, 0, 1).back() / 2000.0), 1.0 / 0.6, 1e-12);
  EXPECT_NEAR(std::exp(joint_decoding_cost(pair, 0, 2).back() / 2000.0), 9.9816, 5e-5);
  EXPECT_NEAR(std::exp(LuringChain(0.0).joint_limit(2)), 10.0, 1e-12);
  EXPECT_NEAR(std::exp(LuringChain(0.0).joint_limit(1)), 1.0 / 0.6, 1e-12);
}

/// Full support does not help: the cost of returning to the best cycle is lost at most once per block.
TEST(LuringChain, LosesTheCostOfAReturnOnceABlockAtMost) {
  const LuringChain chain(1e-3);
  const MarkovPair pair = chain.pair(2000);
  const double greedy = joint_decoding_cost(pair, 0, 1).back() / 2000.0;
  EXPECT_NEAR(std::exp(greedy), 1.668, 5e-4);
  EXPECT_NEAR(std::exp(joint_decoding_cost(pair, 0, 2).back() / 2000.0), 9.984, 5e-4);
  const BestCycle cycle = best_cycle(chain.rows(), LuringChain::states, 0);
  EXPECT_NEAR(-cycle.mean, greedy, 1e-12);  // greedy decoding follows the best cycle
  for (const std::size_t block : {1, 2, 4, 8, 16, 32, 64}) {
    const double limit = chain.joint_limit(block);
    EXPECT_GE(limit, greedy - 1e-12);
    EXPECT_LE(limit, greedy + cycle.return_cost() / static_cast<double>(block) + 1e-12);
  }
  EXPECT_LT(chain.joint_limit(64), greedy + 0.15);
}

TEST(LeavingChain, HasTheCostsOfTheDecoder) {
  const LeavingChain chain{.stay = 0.9, .bad = 3};
  for (const std::size_t tokens : {2, 6, 12}) {
    const MarkovPair pair = chain.pair(tokens);
    const auto a = assisted_decoding(pair, {.tau = 0.5, .beams = 4, .length = 1});
    ASSERT_TRUE(a.has_value());
    const LeavingChain::Costs c = chain.costs(tokens);
    EXPECT_NEAR(a->tokens_per_call, 2.0, 1e-12);
    EXPECT_NEAR(a->prefix_error(), 0.0, 1e-12);
    EXPECT_NEAR(a->beam_error(), 0.0, 1e-12);
    EXPECT_NEAR(a->log_perplexity_q, c.assisted, 1e-12);
    EXPECT_NEAR(a->own_entropy, c.own_entropy, 1e-12);
    EXPECT_NEAR(a->joint_log_perplexity(), c.joint_contexts, 1e-12);
    EXPECT_NEAR(entropy_per_token(pair), c.entropy, 1e-12);
    EXPECT_NEAR(joint_decoding_cost(pair, 0, 2).back() / static_cast<double>(tokens), c.joint, 1e-12);
  }
}

TEST(LeavingChain, ViolatesTheBoundAgainstJointDecodingOnItsOwnContexts) {
  const LeavingChain::Costs c = LeavingChain{}.costs(20000);
  EXPECT_NEAR(c.entropy, 6.891, 5e-4);
  EXPECT_NEAR(c.assisted - c.joint, 6.854, 5e-4);
  EXPECT_NEAR(log_loss_bound(0.5, 2.0, 0.0, c.entropy, 0.0), 3.792, 5e-4);
  EXPECT_LE(c.assisted, c.joint_contexts + (c.own_entropy - std::log(0.5)) / 2.0);  // by MTAD's contexts
}

/// Tests the theorem of log_perplexity_bound and its special case for time-homogeneous pairs.
TEST(AssistedDecoding, IsBoundedByJointDecodingAfterItsOwnContexts) {
  std::mt19937 generator(3);
  double min_slack = 1.0;
  for (int i = 0; i < 12; ++i) {
    const std::size_t states = 3 + static_cast<std::size_t>(i) % 3, tokens = 24;
    const auto q = random_rows(states, 0.0, generator);
    std::vector<double> p = q;
    for (std::size_t x = 0; x < states; ++x) {
      double total = 0.0;
      for (std::size_t y = 0; y < states; ++y)
        total += p[x * states + y] *= std::exp(uniform53(generator) - 0.5);
      for (std::size_t y = 0; y < states; ++y) p[x * states + y] /= total;
    }
    const MarkovPair pair(states, tokens, repeated(p, tokens), repeated(q, tokens));
    const double U = largest_log_ratio(pair);
    const BestCycle cycle = best_cycle(q, states, 0);
    for (const double tau : {0.05, 0.5, 0.9, 1.0}) {
      for (const std::size_t beams : {1, 8}) {
        const auto a = assisted_decoding(pair, {.tau = tau, .beams = beams, .length = 3});
        ASSERT_TRUE(a.has_value());
        EXPECT_LE(a->prefix_error(), 1e-12);
        const double bound = log_perplexity_bound(*a, tau, U);
        EXPECT_LE(a->log_perplexity_q, bound + 1e-12);
        min_slack = std::min(min_slack, bound - a->log_perplexity_q);
        const double joint = -cycle.mean + cycle.return_cost() / a->tokens_per_call;
        EXPECT_LE(a->joint_log_perplexity(), joint + 1e-12);
      }
    }
  }
  EXPECT_LT(min_slack, 0.05);  // the bound is nearly tight
}

TEST(JointDecoding, OfRandomLengthsIsTheMeanOverThem) {
  const MarkovPair pair = MarkovPair::random(3, 4, 5);
  const double lengths[] = {0.3, 0.7};
  double mean = 0.0;  // mean over the lengths of up to four blocks
  for (unsigned pattern = 0; pattern < 16; ++pattern) {
    std::vector<std::size_t> all;
    double probability = 1.0;
    for (unsigned i = 0; i < 4; ++i) {
      all.push_back(1 + (pattern >> i & 1u));
      probability *= lengths[all.back() - 1];
    }
    mean += probability * joint_decoding_cost(pair, 1, all).back();
  }
  EXPECT_NEAR(random_joint_decoding_cost(pair, 1, lengths), mean, 1e-12);
}

/// L(γ) along the target's texts; one token after any context costs −log of its largest probability.
TEST(JointDecoding, AlongTheTargetsTextsWeighsItsContexts) {
  const MarkovPair pair = MarkovPair::random(3, 3, 6);
  const auto costs = joint_costs_along_target(pair, 2, 2);
  ASSERT_EQ(costs[0].size(), 3u);
  ASSERT_EQ(costs[1].size(), 2u);
  double after_one = 0.0;
  for (std::size_t x = 0; x < 3; ++x) after_one -= pair.q(0, 2)[x] * std::log(std::ranges::max(pair.q(1, x)));
  EXPECT_NEAR(costs[0][1], after_one, 1e-12);
  EXPECT_NEAR(costs[1][0], joint_decoding_cost(pair, 2, 2)[1], 1e-12);
}

}  // namespace
}  // namespace spectr::lab
