#include "lab/theory/joint_decoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/assisted_decoding.h"
#include "lab/theory/beam_drafts.h"
#include "spectr/base/enumerator.h"
#include "spectr/decode/methods.h"

namespace spectr::lab {
namespace {

/// Returns log q of a block of tokens after token n = x.
double log_q(const MarkovPair& pair, std::size_t n, std::size_t x, std::size_t length, std::size_t code) {
  double sum = 0.0;
  for (std::size_t i = 0; i < length; ++i, code /= pair.states()) {
    const std::size_t y = code % pair.states();
    sum += std::log(pair.q(n + i, x)[y]);
    x = y;
  }
  return sum;
}

TEST(LikeliestBlocks, AreTheMaximumOverAllBlocks) {
  const MarkovPair pair = MarkovPair::random(3, 6, 8);
  const LikeliestBlocks blocks(pair, [&](std::size_t n, std::size_t x) { return pair.q(n, x); }, 4);
  for (std::size_t x = 0; x < 3; ++x) {
    double max = -1e300;
    for (std::size_t code = 0; code < 81; ++code) max = std::max(max, log_q(pair, 2, x, 4, code));
    EXPECT_NEAR(blocks.log_likelihood(4, 2, x), max, 1e-14);
    std::size_t last = x;
    double own = 0.0;
    for (std::size_t i = 0; const std::size_t y : blocks.block(4, 2, x)) {
      own += std::log(pair.q(2 + i++, last)[y]);
      last = y;
    }
    EXPECT_NEAR(own, max, 1e-14);
  }
}

/// If beams never lose a continuation, they find the likeliest block, so the decoder mtjd is exact.
TEST(JointDecoding, IsWhatTheDecoderDoesWithEnoughBeams) {
  const MarkovPair pair = MarkovPair::random(3, 9, 12);
  for (const std::size_t length : {1, 2, 3}) {
    auto decoder = make_decoder(*find_method("mtjd").value(),
                                {.length = length, .beams = 27, .beam_mode = BeamMode::top});
    OwnedModels models = pair.start_target(decoder->max_nodes(9));
    std::vector<Token> text = {1};
    double cost = 0.0;
    Enumerator choices;
    while (text.size() < 10) {
      const auto block = decoder->step({text, 10 - text.size(), text.size() - 1, {}}, models, choices);
      for (double nll : block->negative_log_likelihoods) cost += nll;
      text.insert(text.end(), block->tokens.begin(), block->tokens.end());
    }
    EXPECT_NEAR(joint_decoding_cost(pair, 1, length).back(), cost, 1e-12);
  }
}

/// The decoder is also exact if blocks have different lengths.
TEST(JointDecoding, OfVaryingLengthsIsWhatTheDecoderDoes) {
  const MarkovPair pair = MarkovPair::random(3, 9, 13);
  const std::vector<std::size_t> lengths = {1, 3, 2};
  auto decoder = make_decoder(*find_method("mtjd").value(),
                              {.beams = 27, .beam_mode = BeamMode::top, .gammas = lengths});
  OwnedModels models = pair.start_target(decoder->max_nodes(9));
  std::vector<Token> text = {1};
  double cost = 0.0;
  Enumerator choices;
  for (std::size_t block = 0; text.size() < 10; ++block) {
    const auto made = decoder->step({text, 10 - text.size(), block, {}}, models, choices);
    for (double nll : made->negative_log_likelihoods) cost += nll;
    text.insert(text.end(), made->tokens.begin(), made->tokens.end());
  }
  EXPECT_NEAR(joint_decoding_cost(pair, 1, lengths).back(), cost, 1e-12);
  EXPECT_NE(cost, joint_decoding_cost(pair, 1, 1).back());
}

/// Theorem 3.2 in its simplest case: a block as long as the text is the likeliest possible text.
TEST(JointDecoding, OfTheWholeTextIsNeverWorseThanGreedy) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const MarkovPair pair = MarkovPair::random(4, 8, seed);
    EXPECT_LE(joint_decoding_cost(pair, 0, 8).back(), joint_decoding_cost(pair, 0, 1).back() + 1e-14);
  }
}

TEST(AssistedDecoding, KeepsTheBoundsOfItsTheorems) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const MarkovPair pair = MarkovPair::alike(5, 40, 0.5, seed);
    const double U = largest_log_ratio(pair);
    for (const double tau : {0.02, 0.1, 0.5, 0.9}) {
      for (const std::size_t beams : {1, 4}) {
        const auto a = assisted_decoding(pair, {.tau = tau, .beams = beams, .length = 3});
        ASSERT_TRUE(a.has_value());
        EXPECT_LE(a->log_perplexity_q - a->log_perplexity_p, log_ratio_bound(tau, a->tokens_per_call));
        EXPECT_GE(a->tokens_per_full_block, tokens_per_call_bound(tau, 3, U) - 1e-12);
        EXPECT_LE(a->log_perplexity_q, log_perplexity_bound(*a, tau, U));
        EXPECT_NEAR(log_perplexity_p_bound(*a, a->prefix_error()), a->log_perplexity_p, 1e-12);
      }
    }
  }
}

/// Returns max log p of i tokens after token n = x, over all sequences.
double max_log_p(const MarkovPair& pair, std::size_t i, std::size_t n, std::size_t x) {
  double max = i == 0 ? 0.0 : -1e300;
  for (std::size_t y = 0; i > 0 && y < pair.states(); ++y) {
    max = std::max(max, std::log(pair.p(n, x)[y]) + max_log_p(pair, i - 1, n + 1, y));
  }
  return max;
}

/// Returns the greedy draft of i tokens after token n = x.
std::vector<std::size_t> greedy_draft(const MarkovPair& pair, std::size_t i, std::size_t n, std::size_t x) {
  std::vector<std::size_t> tokens;
  for (; i > 0; --i) {
    const auto p = pair.p(n++, x);
    x = static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
    tokens.push_back(x);
  }
  return tokens;
}

/// MTAD with a greedy beam of three tokens, written as a recursion over the texts.
struct WrittenOut {
  const MarkovPair& pair;
  double tau;
  double calls = 0.0, drafted = 0.0, max = 0.0, worst = 0.0;  // worst: least 1 − log p(draft)/max log p

  void from(std::size_t n, std::size_t x, double mass) {
    const std::size_t left = pair.horizon() - n, length = std::min<std::size_t>(3, left);
    if (left == 0 || mass == 0.0) return;
    const auto draft = greedy_draft(pair, length, n, x);
    double log_p = 0.0, ratio = 1.0;
    std::size_t accepted = 0, after = x;
    for (std::size_t i = 0, last = x; i < length; last = draft[i++]) {
      const double p = pair.p(n + i, last)[draft[i]];
      log_p += std::log(p);
      ratio *= pair.q(n + i, last)[draft[i]] / p;
      if (ratio > tau) accepted = i + 1, after = draft[i];
    }
    const double likeliest = max_log_p(pair, length, n, x);
    calls += mass;
    drafted += mass * log_p;
    max += mass * likeliest;
    worst = std::min(worst, 1.0 - log_p / likeliest);
    if (accepted == left) return;
    for (std::size_t y = 0; y < pair.states(); ++y) {
      from(n + accepted + 1, y, mass * pair.q(n + accepted, after)[y]);
    }
  }
};

TEST(AssistedDecoding, HasTheErrorOfItsWholeDrafts) {
  const MarkovPair pair = MarkovPair::alike(3, 6, 0.6, 4);
  const double worst = worst_beam_error(pair, 1, 3).value();
  EXPECT_LT(worst, -0.01);
  double seen = 0.0;
  for (const double tau : {0.3, 0.8, 0.95}) {
    WrittenOut all{pair, tau};
    for (std::size_t x = 0; x < 3; ++x) all.from(0, x, 1.0 / 3.0);
    const auto a = assisted_decoding(pair, {.tau = tau, .beams = 1, .length = 3});
    ASSERT_TRUE(a.has_value());
    EXPECT_NEAR(a->tokens_per_call, 6.0 / all.calls, 1e-12);
    EXPECT_NEAR(a->beam_error(), 1.0 - all.drafted / all.max, 1e-12);
    EXPECT_GE(a->beam_error(), worst);
    seen = std::min(seen, all.worst);
  }
  EXPECT_NEAR(worst, seen, 1e-12);
}

/// The draft is the likeliest one, however much of it is accepted.
TEST(AssistedDecoding, WithEnoughBeamsDraftsWithoutErrorAtEveryThreshold) {
  const MarkovPair pair = MarkovPair::alike(3, 7, 0.6, 4);
  double min = 0.0;
  for (const double tau : {1e-9, 0.5, 0.8, 0.95}) {
    const auto a = assisted_decoding(pair, {.tau = tau, .beams = 27, .length = 3});
    EXPECT_NEAR(a->beam_error(), 0.0, 1e-12);
    min = std::min(min, a->prefix_error());
  }
  EXPECT_NEAR(worst_beam_error(pair, 27, 3).value(), 0.0, 1e-12);
  EXPECT_LT(min, -0.04);  // a prefix need not be the likeliest of its length
}

TEST(AssistedDecoding, OfAWholeBlockIsLikeliestWithEnoughBeams) {
  const MarkovPair pair = MarkovPair::alike(3, 4, 0.3, 2);
  const auto a = assisted_decoding(pair, {.tau = 1e-9, .beams = 27, .length = 3});
  EXPECT_NEAR(a->tokens_per_call, 4.0, 1e-12);  // three drafts and the target's own token
  EXPECT_NEAR(a->prefix_error(), 0.0, 1e-12);
}

}  // namespace
}  // namespace spectr::lab
