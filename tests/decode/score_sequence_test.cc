// Logits of whole sequences, computed in passes of several tokens.
#include "spectr/decode/score_sequence.h"

#include <gmock/gmock.h>

#include <numeric>
#include <string>
#include <vector>

#include "spectr/sampling/likelihood.h"
#include "tests/engine/bundled.h"

namespace spectr {
namespace {

std::vector<Token> scored_story() {
  return test::bundled_models()->tokenizer->encode(
      "Once upon a time there was a little dog who liked to play with a red ball in the park.");
}

/// Returns the log-probability of each token except the first, each computed by a fresh session.
std::vector<double> scores_one_by_one(std::span<const Token> tokens) {
  std::vector<double> all;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const auto session = test::bundled_models()->target->start(tokens.size(), 1).value();
    EXPECT_TRUE(session->score(tokens.first(i), TokenTree(tokens[i - 1])));
    all.push_back(-negative_log_likelihood(session->logits(TokenTree::root), tokens[i]));
  }
  return all;
}

TEST(ScoredSequences, HaveTheLogitsOfEachPrefixWhateverTheRowsOfAPass) {
  const std::vector<Token> tokens = scored_story();
  const std::vector<double> expected = scores_one_by_one(tokens);
  for (const std::size_t rows : {1U, 2U, 7U, 64U}) {
    const auto session = test::bundled_models()->target->start(tokens.size(), rows).value();
    std::vector<double> scores;
    const auto scored = score_sequence(*session, tokens, rows, [&](std::size_t i, const Logits& logits) {
      EXPECT_EQ(i, scores.size() + 1);
      scores.push_back(-negative_log_likelihood(logits, tokens[i]));
    });
    ASSERT_TRUE(scored);
    EXPECT_EQ(scores, expected) << rows;
    // The last token is read next.
    ASSERT_TRUE(session->score(tokens, TokenTree(tokens.back())));
    const auto fresh = test::bundled_models()->target->start(tokens.size(), 1).value();
    ASSERT_TRUE(fresh->score(tokens, TokenTree(tokens.back())));
    EXPECT_EQ(session->logits(TokenTree::root).at(7), fresh->logits(TokenTree::root).at(7)) << rows;
  }
}

TEST(ScoredSequences, OfOneTokenHaveNothingToScore) {
  const std::vector<Token> one = {5};
  const auto session = test::bundled_models()->target->start(8, 4).value();
  EXPECT_TRUE(score_sequence(*session, one, 4, [](std::size_t, const Logits&) { FAIL(); }));
}

TEST(ScoredSequences, ThatExceedTheContextAreAnError) {
  const std::vector<Token> tokens = scored_story();
  const auto session = test::bundled_models()->target->start(6, 4).value();
  EXPECT_FALSE(score_sequence(*session, tokens, 4, [](std::size_t, const Logits&) {}));
}

TEST(LogitsAfterTokens, BeginAtAnyTokenAndIncludeTheLast) {
  const auto& models = *test::bundled_models();
  const std::vector<Token> tokens = scored_story();
  const std::vector<double> scores = scores_one_by_one(tokens);
  for (const std::size_t first : {std::size_t{0}, std::size_t{3}, tokens.size() - 1}) {
    std::size_t next = first;
    const auto visited = for_each_logits(
        *models.target, tokens.size(), tokens, first, [&](std::size_t i, const Logits& logits) {
          EXPECT_EQ(i, next++);
          if (i + 1 < tokens.size()) {
            EXPECT_EQ(-negative_log_likelihood(logits, tokens[i + 1]), scores[i]);
          }
        });
    ASSERT_TRUE(visited);
    EXPECT_EQ(next, tokens.size());
  }
  const double loss = sum_of_losses(*models.target, tokens.size(), tokens).value();
  EXPECT_NEAR(loss, -std::accumulate(scores.begin(), scores.end(), 0.0), 1e-9);
}

TEST(LogitsAfterTokens, OfTokensThatAModelCannotReadAreAnError) {
  const auto& target = *test::bundled_models()->target;
  const std::vector<Token> tokens = {1, 2, 3};
  const auto losses = [&](std::vector<Token> list) { return sum_of_losses(target, 3, list); };
  EXPECT_TRUE(losses(tokens));
  EXPECT_FALSE(losses({}));
  EXPECT_EQ(losses({1, 2, 3, 4}).error().code, ErrorCode::context_full);
  EXPECT_THAT(losses({1, -1}).error().message, testing::HasSubstr("tokens[1] must lie in [0, "));
  EXPECT_FALSE(losses({static_cast<Token>(target.vocabulary())}));
}

}  // namespace
}  // namespace spectr
