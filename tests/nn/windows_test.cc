// Layers with a window keep a ring buffer of slots. Whatever was overwritten, rows have the bits
// of a session that keeps everything.
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

constexpr std::size_t nodes = 12, length = 700;
// The window, rows in flight, and spare slots for rollbacks; see Transformer::cache_size.
constexpr std::size_t kept = KvSlots::text_rows + nodes + KvSlots::spare_slots;

class Windows : public testing::TestWithParam<const char*> {
 protected:
  static RealModel load(bool keep_all) {
    LoadOptions options;
    options.kv.keep_all = keep_all;
    return RealModel::load(GetParam(), 2, options);
  }

  RealModel ring_ = load(false), whole_ = load(true);
  std::vector<Token> text_ = random_text(length, ring_->vocabulary(), 1);
  std::unique_ptr<Session> session_ = ring_->start(1024, nodes).value();

  Row expected(const std::vector<Token>& text) { return alone(*whole_, text); }
};

TEST_P(Windows, KeepLessMemory) {
  ASSERT_LT(7 + kept, 1024);
  std::size_t sliding = 0;
  for (const LayerSpec& layer : ring_->spec().layers) sliding += layer.attention()->window > 0 ? 1 : 0;
  EXPECT_GT(sliding, 0);
  EXPECT_LT(sliding, ring_->spec().layers.size());
}

TEST_P(Windows, BlocksOfALongTextHaveTheBitsOfASessionThatKeepsAll) {
  std::vector<Token> text = text_;
  for (std::uint32_t block = 0; block < 12; ++block) {
    const TokenTree tree = random_tree(text.back(), nodes, ring_->vocabulary(), block);
    ASSERT_TRUE(session_->score(text, tree));
    for (NodeId node = 0; node < tree.size(); node += 3)
      ASSERT_EQ(row_of(*session_, node), expected(text_at(text, tree, node))) << block << ", " << node;
    const NodeId end = static_cast<NodeId>((5 * block) % nodes);
    session_->keep(tree.path(end));
    text = text_at(text, tree, end);
    text.push_back(static_cast<Token>(3 + block));
  }
}

TEST_P(Windows, AShortEndIsTakenBackAndALongOneComputedAgain) {
  const auto score = [&](std::size_t tokens) {
    const std::vector<Token> text(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(tokens));
    EXPECT_TRUE(session_->score(text, TokenTree(text.back())));
    EXPECT_EQ(row_of(*session_, TokenTree::root), expected(text)) << tokens << " tokens";
  };
  score(length);
  session_->rewind(length - KvSlots::spare_slots);
  EXPECT_EQ(session_->length(), length - KvSlots::spare_slots);
  score(length - KvSlots::spare_slots);
  session_->rewind(length - kept);
  EXPECT_EQ(session_->length(), length - kept) << "with the room of rows that are not being computed";
  score(length - kept);
  session_->rewind(length - kept - 1);
  EXPECT_EQ(session_->length(), 0);
  score(length - kept - 1);
  session_->rewind(200);
  EXPECT_EQ(session_->length(), 200) << "as the text was begun again, nothing of it was overwritten";
  score(200);
  score(length);
}

TEST_P(Windows, ASessionThatKeepsAllTakesAnyEndBack) {
  const auto session = whole_->start(1024, nodes).value();
  ASSERT_TRUE(session->score(text_, TokenTree(text_.back())));
  session->rewind(3);
  EXPECT_EQ(session->length(), 3);
  const std::vector<Token> text(text_.begin(), text_.begin() + 5);
  ASSERT_TRUE(session->score(text, TokenTree(text.back())));
  EXPECT_EQ(row_of(*session, TokenTree::root), expected(text));
}

INSTANTIATE_TEST_SUITE_P(Models, Windows, testing::Values("arch/gemma2-f32.gguf", "arch/gemma3-f32.gguf"),
                         [](const auto& model) { return std::string(model.param).substr(5, 6); });

}  // namespace
}  // namespace spectr
