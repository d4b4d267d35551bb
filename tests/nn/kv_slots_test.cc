// The assignment of tokens and nodes to slots of a cache, as a pass receives it.
#include "spectr/nn/kv_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace spectr {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr CacheId cache = 7;

std::vector<Token> text_of(std::size_t length) {
  std::vector<Token> text(length);
  std::iota(text.begin(), text.end(), 10);
  return text;
}

TEST(KvSlots, NodesAttendToTheTextAndToTheirAncestors) {
  KvSlots slots(cache, 8);
  const std::vector<Token> text = text_of(3);
  TokenTree tree(text.back());
  tree.child(TokenTree::root, 1);
  tree.child(TokenTree::root, 2);
  tree.child(1, 3);
  PassBatch batch;
  const KvSlots::Plan plan = slots.plan(text, tree, batch);
  EXPECT_TRUE(plan.complete);
  EXPECT_EQ(plan.first_node, TokenTree::root);
  EXPECT_THAT(batch.tokens, ElementsAre(10, 11, 12, 1, 2, 3));
  EXPECT_THAT(batch.positions, ElementsAre(0, 1, 2, 3, 3, 4));
  EXPECT_THAT(batch.slots, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(batch.prefixes, ElementsAre(1, 2, 3, 3, 3, 3));
  EXPECT_THAT(batch.caches, testing::Each(cache));
  EXPECT_THAT(batch.wanted, ElementsAre(2, 3, 4, 5)) << "the root's logits are the last token's";
  EXPECT_THAT(batch.ancestors(2), IsEmpty());
  EXPECT_THAT(batch.ancestors(3), ElementsAre(3));
  EXPECT_THAT(batch.ancestors(4), ElementsAre(4));
  EXPECT_THAT(batch.ancestors(5), ElementsAre(3, 5));
  EXPECT_EQ(batch.attended(5), 5u);
  EXPECT_EQ(slots.length(), 3u);
  EXPECT_EQ(slots.scored(), 4);
}

TEST(KvSlots, ATreeThatHasGrownTakesItsNewNodesAlone) {
  KvSlots slots(cache, 8);
  const std::vector<Token> text = text_of(2);
  TokenTree tree(text.back());
  PassBatch batch;
  slots.plan(text, tree, batch);
  batch.clear();
  tree.child(tree.child(TokenTree::root, 1), 2);
  const KvSlots::Plan plan = slots.plan(text, tree, batch);
  EXPECT_EQ(plan.first_node, 1);
  EXPECT_THAT(batch.tokens, ElementsAre(1, 2));
  EXPECT_THAT(batch.wanted, ElementsAre(0, 1));
  batch.clear();
  EXPECT_TRUE(slots.plan(text, tree, batch).complete);
  EXPECT_EQ(batch.rows(), 0u) << "there is nothing left to do";
}

TEST(KvSlots, AcceptedNodesMoveWithTheNextPass) {
  KvSlots slots(cache, 8);
  std::vector<Token> text = text_of(3);
  TokenTree tree(text.back());
  tree.child(TokenTree::root, 1);
  const NodeId b = tree.child(TokenTree::root, 2), c = tree.child(b, 3);
  PassBatch batch;
  slots.plan(text, tree, batch);
  batch.clear();
  slots.keep(std::vector<NodeId>{b, c});
  EXPECT_EQ(slots.length(), 5u);
  text.insert(text.end(), {2, 3, 9});
  slots.plan(text, TokenTree(9), batch);
  EXPECT_THAT(batch.moves, ElementsAre(SlotMove{cache, 4, 3}, SlotMove{cache, 5, 4}));
  EXPECT_THAT(batch.tokens, ElementsAre(9)) << "what was accepted is not computed again";
  EXPECT_THAT(batch.slots, ElementsAre(5));
  batch.clear();
  slots.plan(text, TokenTree(9), batch);
  EXPECT_THAT(batch.moves, IsEmpty()) << "once";
}

TEST(KvSlots, ALongTextComesInPiecesOfWhichTheLastGivesLogits) {
  KvSlots slots(cache, 1);
  const std::vector<Token> text = text_of(2 * KvSlots::text_rows + 1);
  const TokenTree tree(text.back());
  PassBatch batch;
  for (const std::size_t length : {KvSlots::text_rows, 2 * KvSlots::text_rows}) {
    batch.clear();
    EXPECT_FALSE(slots.plan(text, tree, batch).complete);
    EXPECT_EQ(batch.rows(), KvSlots::text_rows);
    EXPECT_THAT(batch.wanted, IsEmpty());
    EXPECT_EQ(slots.length(), length);
  }
  batch.clear();
  EXPECT_TRUE(slots.plan(text, tree, batch).complete);
  EXPECT_THAT(batch.wanted, ElementsAre(0));
}

TEST(KvSlots, OfWhatIsRewoundTheLastTokenIsComputedAgain) {
  KvSlots slots(cache, 4);
  const std::vector<Token> text = text_of(5);
  PassBatch batch;
  slots.plan(text, TokenTree(text.back()), batch);
  slots.rewind(3);
  batch.clear();
  slots.plan(std::span(text).first(3), TokenTree(text[2]), batch);
  EXPECT_THAT(batch.tokens, ElementsAre(text[2]));
  EXPECT_THAT(batch.slots, ElementsAre(2));
}

// Layers with a window of 100 keep 200 more of the latest slots. So the newest slot
// overwrites the one 300 before it.
TEST(KvSlots, WhatAWindowNoLongerHoldsIsComputedAgainFromTheBeginning) {
  const auto after = [](std::size_t length, std::size_t rewound, std::size_t again = 0) {
    KvSlots slots(cache, 4, {100, 200});
    const std::vector<Token> text = text_of(length);
    PassBatch batch;
    const auto score = [&](std::size_t tokens) {
      const auto part = std::span(text).first(tokens);
      while (!slots.plan(part, TokenTree(part.back()), batch).complete) {
      }
    };
    score(length);
    slots.rewind(rewound);
    if (again > 0) {
      score(rewound);
      slots.rewind(again);
    }
    return slots.length();
  };
  EXPECT_EQ(after(300, 5), 5) << "nothing was overwritten";
  EXPECT_EQ(after(301, 101), 101) << "slot 0 was, of which position 101 sees nothing";
  EXPECT_EQ(after(301, 100), 0);
  EXPECT_EQ(after(1000, 800), 800);
  EXPECT_EQ(after(1000, 799), 0);
  EXPECT_EQ(after(1000, 850, 800), 800);
  EXPECT_EQ(after(1000, 850, 799), 0) << "what was taken back has overwritten slots, too";
  EXPECT_EQ(after(1000, 250, 240), 240) << "begun again, all is there";
}

// If recurrent layers roll back further than requested, the windows may no longer hold their slots.
TEST(KvSlots, WhatRecurrentLayersComputeAgainNeedsItsWindowToo) {
  for (std::size_t rewound = 780; rewound < 1000; rewound += 7) {
    KvSlots slots(cache, 4, {100, 200, FrameCounts{1000, 64}});
    const std::vector<Token> text = text_of(1000);
    PassBatch batch;
    while (!slots.plan(text, TokenTree(text.back()), batch).complete) {
    }
    const std::size_t copyable = slots.copyable(rewound);
    EXPECT_TRUE(copyable == 0 || copyable >= 800) << copyable << " of " << rewound;
    slots.rewind(rewound);
    EXPECT_LE(slots.length(), rewound);
    EXPECT_TRUE(slots.length() == 0 || slots.length() >= 800) << slots.length() << " of " << rewound;
  }
}

TEST(KvSlots, NodesOfATreeOverwriteTheEarliestSlotsToo) {
  KvSlots slots(cache, 8, {100, 200});
  const std::vector<Token> text = text_of(299);
  TokenTree tree(text.back());
  PassBatch batch;
  tree.child(TokenTree::root, 1);
  while (!slots.plan(text, tree, batch).complete) {
  }
  slots.keep({});
  slots.rewind(10);
  EXPECT_EQ(slots.length(), 10) << "300 slots were written";
  while (!slots.plan(text, tree, batch).complete) {
  }
  tree.child(TokenTree::root, 2);
  slots.plan(text, tree, batch);
  slots.rewind(10);
  EXPECT_EQ(slots.length(), 0) << "301";
}

TEST(PassBatch, IsCutToWhatItWas) {
  PassBatch batch;
  batch.add_row(1, 0, 0, 0, 1, {});
  const PassBatch::Mark mark = batch.mark();
  batch.moves.push_back({0, 1, 2});
  const std::vector<std::int32_t> ancestors = {4, 6};
  batch.add_row(2, 1, 0, 6, 1, ancestors);
  batch.wanted.push_back(1);
  batch.cut(mark);
  EXPECT_EQ(batch.rows(), 1u);
  EXPECT_THAT(batch.moves, IsEmpty());
  EXPECT_THAT(batch.wanted, IsEmpty());
  batch.add_row(3, 1, 0, 7, 1, std::vector<std::int32_t>{7});
  EXPECT_THAT(batch.ancestors(1), ElementsAre(7));
}

}  // namespace
}  // namespace spectr
