// Drafts from the text itself: which place is found, what is proposed, and how much of it is expected to
// hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "spectr/base/counter_random.h"
#include "spectr/decode/ngram_drafter.h"
#include "spectr/decode/ngram_estimate.h"
#include "spectr/decode/text_match.h"
#include "tests/support/tabular_pair.h"

namespace spectr {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

using Text = std::vector<Token>;

/// The latest earlier place where the last n tokens stand, for the largest n ≤ most that has one.
TextMatch sought(std::span<const Token> text, std::size_t most) {
  for (std::size_t n = std::min(most, text.size() - 1); n >= 1; --n) {
    const auto found = std::ranges::find_end(text.first(text.size() - 1), text.last(n));
    if (!found.empty()) return {n, text.subspan(static_cast<std::size_t>(found.end() - text.begin()))};
  }
  return {};
}

TEST(MatchEnd, FindsTheLatestOfTheLongestMatches) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Text text(1 + random() % 24);
    for (Token& token : text) token = static_cast<Token>(random() % 3);
    for (std::size_t most : {1u, 2u, 3u, 8u}) {
      const TextMatch found = match_end(text, most), expected = sought(text, most);
      ASSERT_EQ(found.length, expected.length);
      ASSERT_EQ(found.next.data(), expected.next.data());
      ASSERT_EQ(found.next.size(), expected.next.size());
    }
  }
}

Text proposal(const Text& text, std::size_t order, std::size_t length, std::size_t left) {
  const TabularPair pair = TabularPair::random(10, 1, 1);
  Models models = pair.models("plain", decoder_of("plain", {}), WarpOptions::none(), 1);
  CounterRandom choices(0);
  Draft draft(text.back());
  NgramDrafter drafter(order, length);
  EXPECT_TRUE(drafter.propose({text, left, 0, {}}, models, choices, draft));
  Text tokens;
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
  Text text;
  for (int i = 0; i < 200; ++i) {
    text.push_back(i % 5);
    estimate.see(text);
  }
  EXPECT_GT(estimate.tokens()[15], 15.5);
}

TEST(NgramEstimate, ExpectsLittleOfARandomText) {
  std::mt19937 random(2);
  NgramEstimate estimate;
  Text text;
  for (int i = 0; i < 2000; ++i) {
    text.push_back(static_cast<Token>(random() % 50));
    estimate.see(text);
  }
  EXPECT_LT(estimate.tokens()[15], 1.15);
}

TEST(NgramEstimate, TellsLongMatchesFromShortOnes) {
  // 0 is followed by something new, 1 2 3 always by 4.
  NgramEstimate estimate;
  Text text;
  for (int i = 0; i < 300; ++i) {
    for (Token token : {0, 10 + i, 1, 2, 3, 4}) text.push_back(token);
    estimate.see(text);
  }
  text.push_back(0);
  estimate.see(text);
  const double after_anything = estimate.tokens()[1];
  text.insert(text.end(), {1000, 1, 2, 3});
  estimate.see(text);
  EXPECT_LT(after_anything, 1.3);
  EXPECT_GT(estimate.tokens()[1], 1.9);
}

TEST(NgramEstimate, SeesTheSameTextInOnePieceOrMany) {
  std::mt19937 random(4);
  Text text(3, 0);
  NgramEstimate often, seldom;
  often.see(text);
  seldom.see(text);
  for (int i = 0; i < 500; ++i) {
    text.push_back(static_cast<Token>(random() % 4));
    often.see(text);
    if (i % 7 == 0) seldom.see(text);
  }
  seldom.see(text);
  EXPECT_EQ(often.tokens(), seldom.tokens());
}

}  // namespace
}  // namespace spectr
