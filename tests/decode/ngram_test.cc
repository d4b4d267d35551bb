// Drafts from the sequence itself: which match is found, what is proposed, and its estimated
// acceptance.
#include "spectr/decode/ngram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "spectr/base/counter_random.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

using Sequence = std::vector<Token>;

/// Finds the latest earlier occurrence of the last n tokens, for the largest n ≤ max that occurs.
NgramMatch sought(std::span<const Token> sequence, std::size_t max) {
  for (std::size_t n = std::min(max, sequence.size() - 1); n >= 1; --n) {
    const auto found = std::ranges::find_end(sequence.first(sequence.size() - 1), sequence.last(n));
    if (!found.empty())
      return {n, sequence.subspan(static_cast<std::size_t>(found.end() - sequence.begin()))};
  }
  return {};
}

TEST(MatchEnd, FindsTheLatestOfTheLongestMatches) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Sequence sequence(1 + random() % 24);
    for (Token& token : sequence) token = static_cast<Token>(random() % 3);
    for (std::size_t max : {1u, 2u, 3u, 8u}) {
      const NgramMatch found = match_end(sequence, max), expected = sought(sequence, max);
      ASSERT_EQ(found.length, expected.length);
      ASSERT_EQ(found.next.data(), expected.next.data());
      ASSERT_EQ(found.next.size(), expected.next.size());
    }
  }
}

Sequence proposal(const Sequence& sequence, std::size_t order, std::size_t length, std::size_t left) {
  const TabularPair pair = TabularPair::random(10, 1, 1);
  OwnedModels models = pair.models("plain", decoder_of("plain", {}), WarpOptions::none(), 1);
  CounterRandom choices(0);
  Draft draft(sequence.back());
  NgramDrafter drafter(order, length);
  EXPECT_TRUE(drafter.propose({sequence, left, 0, {}}, models, choices, draft));
  Sequence tokens;
  for (std::size_t i = 0; i < draft.draws().size(); ++i) tokens.push_back(draft.token(i));
  return tokens;
}

TEST(NgramDrafter, ProposesWhatFollowedAndGoesOnInCircles) {
  EXPECT_THAT(proposal({1, 2, 3, 4, 1, 2}, 3, 2, 9), ElementsAre(3, 4));
  EXPECT_THAT(proposal({1, 2, 3, 1, 2, 3}, 3, 5, 9), ElementsAre(1, 2, 3, 1, 2));
  EXPECT_THAT(proposal({7, 7}, 3, 3, 9), ElementsAre(7, 7, 7));
  EXPECT_THAT(proposal({1, 2, 3, 4, 1, 2}, 3, 8, 3), ElementsAre(3, 4, 1)) << "no more than may be emitted";
  EXPECT_THAT(proposal({1, 2, 3}, 3, 8, 9), IsEmpty());
  EXPECT_THAT(proposal({1}, 3, 8, 9), IsEmpty());
}

TEST(NgramEstimate, ExpectsARepeatingTextToGoOn) {
  NgramEstimate estimate;
  Sequence sequence;
  for (int i = 0; i < 200; ++i) {
    sequence.push_back(i % 5);
    estimate.see(sequence);
  }
  EXPECT_GT(estimate.tokens()[15], 15.5);
}

TEST(NgramEstimate, ExpectsLittleOfARandomText) {
  std::mt19937 random(2);
  NgramEstimate estimate;
  Sequence sequence;
  for (int i = 0; i < 2000; ++i) {
    sequence.push_back(static_cast<Token>(random() % 50));
    estimate.see(sequence);
  }
  EXPECT_LT(estimate.tokens()[15], 1.15);
}

TEST(NgramEstimate, TellsLongMatchesFromShortOnes) {
  // 0 is followed by a new token, 1 2 3 always by 4.
  NgramEstimate estimate;
  Sequence sequence;
  for (int i = 0; i < 300; ++i) {
    for (Token token : {0, 10 + i, 1, 2, 3, 4}) sequence.push_back(token);
    estimate.see(sequence);
  }
  sequence.push_back(0);
  estimate.see(sequence);
  const double after_anything = estimate.tokens()[1];
  sequence.insert(sequence.end(), {1000, 1, 2, 3});
  estimate.see(sequence);
  EXPECT_LT(after_anything, 1.3);
  EXPECT_GT(estimate.tokens()[1], 1.9);
}

TEST(NgramEstimate, SeesTheSameTextInOnePieceOrMany) {
  std::mt19937 random(4);
  Sequence sequence(3, 0);
  NgramEstimate often, seldom;
  often.see(sequence);
  seldom.see(sequence);
  for (int i = 0; i < 500; ++i) {
    sequence.push_back(static_cast<Token>(random() % 4));
    often.see(sequence);
    if (i % 7 == 0) seldom.see(sequence);
  }
  seldom.see(sequence);
  EXPECT_EQ(often.tokens(), seldom.tokens());
}

}  // namespace
}  // namespace spectr
