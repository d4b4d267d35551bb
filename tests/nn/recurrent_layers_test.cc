// Recurrent layers: however a text is split into passes, and whatever is drafted and rolled back, rows have
// the bits of a text that is read at once.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "spectr/nn/kv_slots.h"
#include "tests/nn/random_sequences.h"
#include "tests/support/data.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

using namespace test;

constexpr std::size_t nodes = 24, length = 300;

class RecurrentLayers : public testing::TestWithParam<const char*> {
 protected:
  RealModel model_ = RealModel::load_transformer(GetParam(), 2);
  std::vector<Token> text_ = random_text(length, model_->vocabulary(), 1);
  std::unique_ptr<Session> session_ = model_->start(512, nodes).value();

  std::vector<Token> first(std::size_t tokens) const {
    return {text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(tokens)};
  }
  void expect_text(const std::vector<Token>& text) {
    ASSERT_TRUE(session_->score(text, TokenTree(text.back())));
    EXPECT_EQ(row_of(*session_, TokenTree::root), alone(*model_, text)) << text.size() << " tokens";
  }
};

TEST_P(RecurrentLayers, ATextInAnyPiecesHasTheBitsOfATextAtOnce) {
  for (std::size_t tokens = 1; tokens <= 70; tokens += tokens % 3 + 1) expect_text(first(tokens));
  expect_text(first(length));
}

TEST_P(RecurrentLayers, BlocksOfALongTextHaveTheBitsOfSeparateTexts) {
  std::vector<Token> text = first(30);
  for (std::uint32_t block = 0; block < 24; ++block) {
    const TokenTree tree = random_tree(text.back(), nodes, model_->vocabulary(), block);
    ASSERT_TRUE(session_->score(text, tree));
    for (NodeId node = 0; node < tree.size(); node += 3)
      ASSERT_EQ(row_of(*session_, node), alone(*model_, text_at(text, tree, node))) << block << ", " << node;
    NodeId end = TokenTree::root;
    for (NodeId node = 0; node < tree.size(); ++node) {
      if (tree.depth(node) > tree.depth(end)) end = node;
    }
    session_->keep(tree.path(end));
    text = text_at(text, tree, end);
    text.push_back(static_cast<Token>(3 + block));
  }
}

TEST_P(RecurrentLayers, ADraftThatPassesSeveralStatesHasTheBitsOfItsText) {
  const std::vector<Token> text = first(10);
  TokenTree tree(text.back());
  NodeId last = TokenTree::root;
  while (tree.size() < static_cast<NodeId>(nodes))
    last = tree.child(last, text_[static_cast<std::size_t>(tree.size()) + 9]);
  ASSERT_TRUE(session_->score(text, tree));
  for (NodeId node = 0; node < tree.size(); ++node)
    ASSERT_EQ(row_of(*session_, node), alone(*model_, text_at(text, tree, node))) << node;
}

TEST_P(RecurrentLayers, WhatIsTakenBackIsReadAgainWithTheSameBits) {
  expect_text(first(length));
  for (const std::size_t left : {299, 290, 260, 200, 100, 40, 15, 1}) {
    session_->rewind(left);
    EXPECT_LE(session_->length(), left);
    expect_text(first(left + 1));
  }
  expect_text(first(length));
}

TEST_P(RecurrentLayers, SequencesOfOnePassHaveTheBitsOfSequencesAlone) {
  const auto other = model_->start(512, nodes).value();
  for (const std::size_t tokens : {20, 33, 70}) {
    const std::vector<Token> mine = first(tokens), theirs = random_text(tokens + 9, model_->vocabulary(), 7);
    const TokenTree my_tree = random_tree(mine.back(), 9, model_->vocabulary(), 2),
                    their_tree = random_tree(theirs.back(), 12, model_->vocabulary(), 3);
    other->rewind(0);
    std::vector<Scoring> both = {{session_.get(), mine, &my_tree}, {other.get(), theirs, &their_tree}};
    while (!both[0].is_over() || !both[1].is_over()) model_->score_together(both);
    for (NodeId node = 0; node < 9; ++node)
      ASSERT_EQ(row_of(*session_, node), alone(*model_, text_at(mine, my_tree, node)));
    for (NodeId node = 0; node < 12; ++node)
      ASSERT_EQ(row_of(*other, node), alone(*model_, text_at(theirs, their_tree, node)));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RecurrentLayers,
                         testing::Values("arch2/qwen35/model-interval2.gguf", "arch2/lfm2/model.gguf"),
                         [](const auto& model) {
                           return std::string(model.index == 0 ? "DeltaNets" : "ShortConvolutions");
                         });

}  // namespace
}  // namespace spectr
