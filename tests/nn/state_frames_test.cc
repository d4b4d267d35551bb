// The states of recurrent layers that a pass reads, computes and keeps.
#include "spectr/nn/state_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "spectr/nn/kv_slots.h"

namespace spectr {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr CacheId cache = 3;
constexpr std::size_t nodes = 40, context = 4096;

KvSlots recurrent_slots() {
  const std::size_t recent = StateFrames::recent_slots(KvSlots::max_rows(nodes), nodes);
  return {cache, nodes, {.frames = FrameCounts{context, recent}}};
}

std::vector<Token> text_of(std::size_t length) {
  std::vector<Token> text(length);
  std::iota(text.begin(), text.end(), 10);
  return text;
}

/// Plans the passes that read a text, and returns the last one.
PassBatch read(KvSlots& slots, const std::vector<Token>& text) {
  PassBatch batch;
  do batch.clear();
  while (!slots.plan(text, TokenTree(text.back()), batch).complete);
  return batch;
}

std::vector<int> grids_of_rows(const PassBatch& batch) {
  std::vector<int> grids;
  for (const std::int32_t state : batch.row_states)
    grids.push_back(batch.states[static_cast<std::size_t>(state)].grid);
  return grids;
}

TEST(StateFrames, EveryRowStartsFromTheLastStateOfTheGrid) {
  KvSlots slots = recurrent_slots();
  const PassBatch batch = read(slots, text_of(40));
  ASSERT_EQ(batch.states.size(), 3U);
  EXPECT_EQ(batch.states[0].from, -1) << "nothing";
  EXPECT_EQ(batch.states[1].from, 0);
  EXPECT_EQ(batch.states[2].from, 1);
  for (std::size_t r = 0; r < 40; ++r) EXPECT_EQ(grids_of_rows(batch)[r], r / 16 * 16);
  EXPECT_GE(batch.states[1].keep, 0) << "the two latest";
  EXPECT_GE(batch.states[2].keep, 0);
  EXPECT_NE(batch.states[1].keep, batch.states[2].keep);
}

TEST(StateFrames, ATextThatGoesOnReadsWhatWasKept) {
  KvSlots slots = recurrent_slots();
  const PassBatch first = read(slots, text_of(40));
  const PassBatch next = read(slots, text_of(41));
  ASSERT_EQ(next.states.size(), 1U);
  EXPECT_EQ(next.states[0].grid, 32);
  EXPECT_EQ(next.states[0].frame, first.states[2].keep);
  EXPECT_EQ(next.states[0].keep, -1);
}

TEST(StateFrames, BranchesThatPassTheGridHaveStatesOfTheirOwnWhichAreNotKept) {
  KvSlots slots = recurrent_slots();
  const std::vector<Token> text = text_of(15);
  TokenTree tree(text.back());
  const NodeId a = tree.child(TokenTree::root, 1), b = tree.child(TokenTree::root, 2);
  tree.child(a, 3);
  tree.child(b, 4);
  tree.child(b, 5);
  PassBatch batch;
  slots.plan(text, tree, batch);
  // Position 15 is that of a and b; the rows after them use the states of both branches.
  EXPECT_THAT(std::vector(batch.row_states.begin() + 15, batch.row_states.end()), ElementsAre(0, 0, 1, 2, 2));
  ASSERT_EQ(batch.states.size(), 3U);
  EXPECT_EQ(batch.states[1].from, 0);
  EXPECT_EQ(batch.states[2].from, 0);
  EXPECT_EQ(batch.states[1].keep, -1);
  EXPECT_EQ(batch.states[2].keep, -1);

  // The accepted branch is now text: its state is computed again, and kept.
  slots.keep(std::vector<NodeId>{b, 5});
  std::vector<Token> longer = text;
  longer.insert(longer.end(), {2, 5, 7});
  const PassBatch next = read(slots, longer);
  EXPECT_THAT(grids_of_rows(next), Each(16));
  EXPECT_GE(next.states.back().keep, 0);
}

TEST(StateFrames, TakingBackALittleIsFreeAndMoreGoesBackToWhatIsKept) {
  KvSlots slots = recurrent_slots();
  read(slots, text_of(1000));
  read(slots, text_of(1001));
  slots.rewind(995);
  EXPECT_EQ(slots.length(), 995U);
  slots.rewind(980);
  EXPECT_EQ(slots.length(), 980U) << "with the slots since 976";
  slots.rewind(700);
  EXPECT_EQ(slots.length(), 0U) << "a quarter of the context is 1024";

  KvSlots longer = recurrent_slots();
  read(longer, text_of(1400));
  read(longer, text_of(1401));
  longer.rewind(1200);
  EXPECT_EQ(longer.length(), 1024U);
  const PassBatch again = read(longer, text_of(1030));
  EXPECT_THAT(grids_of_rows(again), Each(1024));
  EXPECT_GE(again.states.front().frame, 0);
  longer.rewind(1029);
  EXPECT_EQ(longer.length(), 1029U) << "what came again is there";
}

TEST(StateFrames, TheEndsOfTheLastTwoPromptsAreKept) {
  KvSlots slots = recurrent_slots();
  std::vector<Token> text = text_of(200);
  const auto answer = [&](std::size_t tokens) {
    for (std::size_t i = 0; i < tokens; ++i) {
      text.push_back(5);
      read(slots, text);
    }
  };
  read(slots, text);
  answer(300);
  slots.rewind(201);
  EXPECT_EQ(slots.length(), 192U);
  text.resize(200);
  read(slots, text);
  answer(100);
  text.resize(400, 6);
  read(slots, text);
  answer(200);
  slots.rewind(401);
  EXPECT_EQ(slots.length(), 384U);
  slots.rewind(201);
  EXPECT_EQ(slots.length(), 192U);
}

TEST(StateFrames, WhatAPassThatFailedWasToKeepIsNotReliedOn) {
  KvSlots slots = recurrent_slots();
  read(slots, text_of(40));
  PassBatch batch;
  slots.plan(text_of(60), TokenTree(text_of(60).back()), batch);
  slots.rewind(40);  // as after a failed pass
  const PassBatch again = read(slots, text_of(60));
  EXPECT_EQ(again.states.back().grid, 48);
  EXPECT_GE(again.states.back().from, 0) << "computed again";
}

// Whatever is read, rolled back and accepted: each state comes after those it needs, and a frame that is read
// was last written for the same position.
TEST(StateFrames, NeverReadsAFrameThatHoldsSomethingElse) {
  KvSlots slots = recurrent_slots();
  std::vector<int> held(StateFrames::max_frames, 0);
  std::vector<Token> text = text_of(5);
  std::uint32_t random = 1;
  const auto next = [&](std::size_t below) {
    random = random * 1664525 + 1013904223;
    return (random >> 8) % below;
  };
  for (int step = 0; step < 3000; ++step) {
    PassBatch batch;
    TokenTree tree(text.back());
    for (std::size_t i = next(12); i > 0; --i)
      tree.child(static_cast<NodeId>(next(static_cast<std::size_t>(tree.size()))),
                 static_cast<Token>(next(3)));
    bool complete = false;
    while (!complete) {
      batch.clear();
      complete = slots.plan(text, tree, batch).complete;
      ASSERT_EQ(batch.row_states.size(), batch.rows());
      for (std::size_t i = 0; i < batch.states.size(); ++i) {
        const GridState& state = batch.states[i];
        ASSERT_LT(state.from, static_cast<int>(i));
        if (state.frame >= 0) {
          ASSERT_EQ(held[static_cast<std::size_t>(state.frame)], state.grid);
        }
        if (state.from >= 0) {
          const GridState& from = batch.states[static_cast<std::size_t>(state.from)];
          ASSERT_EQ(from.grid + static_cast<int>(state_grid), state.grid);
        }
      }
      for (const GridState& state : batch.states) {
        if (state.keep >= 0) held[static_cast<std::size_t>(state.keep)] = state.grid;
      }
    }
    const NodeId node = static_cast<NodeId>(next(static_cast<std::size_t>(tree.size())));
    std::vector<NodeId> path;
    for (const NodeId one : tree.path(node)) path.push_back(one);
    slots.keep(path);
    for (const NodeId one : path) text.push_back(tree.token(one));
    text.push_back(1);
    if (next(10) == 0) {
      slots.rewind(next(text.size()));
      text.resize(std::max<std::size_t>(1, next(text.size())));
      slots.rewind(text.size());
    }
    if (next(20) == 0 && text.size() < 1500) text.resize(text.size() + next(200), 2);
    if (text.size() > 1800) {
      text.resize(50);
      slots.rewind(50);
    }
  }
}

}  // namespace
}  // namespace spectr
