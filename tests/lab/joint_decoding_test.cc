#include "lab/theory/joint_decoding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/theory/assisted_decoding.h"
#include "spectr/base/enumerator.h"
#include "spectr/decode/methods.h"

namespace spectr::lab {
namespace {

/// log q of a block of tokens after token n = x.
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
    double most = -1e300;
    for (std::size_t code = 0; code < 81; ++code) most = std::max(most, log_q(pair, 2, x, 4, code));
    EXPECT_NEAR(blocks.log_likelihood(4, 2, x), most, 1e-14);
    std::size_t last = x;
    double own = 0.0;
    for (std::size_t i = 0; const std::size_t y : blocks.block(4, 2, x)) {
      own += std::log(pair.q(2 + i++, last)[y]);
      last = y;
    }
    EXPECT_NEAR(own, most, 1e-14);
  }
}

/// Beams that never lose a continuation find the likeliest block: the decoder mtjd is exact then.
TEST(JointDecoding, IsWhatTheDecoderDoesWithEnoughBeams) {
  const MarkovPair pair = MarkovPair::random(3, 9, 12);
  for (const std::size_t length : {1, 2, 3}) {
    auto decoder = make_decoder(*find_method("mtjd").value(),
                                {.length = length, .beams = 27, .beam_mode = BeamMode::top});
    Models models = pair.start_target(decoder->most_nodes(9));
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

/// Theorem 3.2 in its simplest case: a block as long as the text is the likeliest text there is.
TEST(JointDecoding, OfTheWholeTextIsNeverWorseThanGreedy) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const MarkovPair pair = MarkovPair::random(4, 8, seed);
    EXPECT_LE(joint_decoding_cost(pair, 0, 8).back(), joint_decoding_cost(pair, 0, 1).back() + 1e-14);
  }
}

TEST(AssistedDecoding, KeepsItsBounds) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    const MarkovPair pair = MarkovPair::alike(5, 40, 0.5, seed);
    const double U = largest_log_ratio(pair), H = entropy_per_token(pair);
    for (const double tau : {0.02, 0.1, 0.5, 0.9}) {
      for (const std::size_t beams : {1, 4}) {
        const auto a = assisted_decoding(pair, {.tau = tau, .beams = beams, .length = 3});
        ASSERT_TRUE(a.has_value());
        EXPECT_LE(a->beam_error(), 1e-15);
        EXPECT_NEAR(a->log_perplexity_p, log_perplexity_p_bound(*a), 1e-12);
        EXPECT_LE(a->log_perplexity_q - a->log_perplexity_p, log_ratio_bound(tau, a->tokens_per_call));
        EXPECT_GE(a->tokens_per_full_block, tokens_per_call_bound(tau, 3, U) - 1e-12);
        const auto block = static_cast<std::size_t>(std::max(1.0, std::round(a->tokens_per_call)));
        const double joint = joint_decoding_cost(pair, 0, block).back() / 40.0;
        EXPECT_LE(a->log_perplexity_q - joint,
                  log_loss_bound(tau, a->tokens_per_call, a->beam_error(), H, U));
      }
    }
  }
}

TEST(AssistedDecoding, OfAWholeBlockIsLikeliestWithEnoughBeams) {
  const MarkovPair pair = MarkovPair::alike(3, 4, 0.3, 2);
  const auto a = assisted_decoding(pair, {.tau = 1e-9, .beams = 27, .length = 3});
  EXPECT_NEAR(a->tokens_per_call, 4.0, 1e-12);  // three drafts and the target's own token
  EXPECT_NEAR(a->beam_error(), 0.0, 1e-12);
}

}  // namespace
}  // namespace spectr::lab
