// The memory of passes is planned when a session starts: passes allocate nothing.
#include <gtest/gtest.h>

#include <barrier>
#include <limits>
#include <thread>
#include <vector>

#include "spectr/base/recycled.h"
#include "spectr/engine/batcher.h"
#include "tests/support/allocations.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

constexpr NodeId nodes = 9;

/// A text that grows by a path of four drafts and one more token per block.
class GrowingText {
 public:
  /// Scores the text with a chain of four tokens and one sibling of each of its nodes.
  void block(Session& session) {
    TokenTree tree(text_.back());
    for (NodeId above = TokenTree::root, i = 0; i < 4; ++i) {
      const NodeId next = tree.child(above, 100 + i);
      tree.child(above, 200 + i);
      above = next;
    }
    const RecycledVector<NodeId> path = tree.path(7);  // the chain
    EXPECT_TRUE(session.score(text_, tree));
    session.keep(path);
    for (const NodeId node : path) text_.push_back(tree.token(node));
    text_.push_back(70);
  }

 private:
  std::vector<Token> text_ = [] {
    std::vector<Token> text = {1, 40, 50, 60};
    text.reserve(256);
    return text;
  }();
};

TEST(Session, ScoresTextAndTreesWithoutAskingForMemory) {
  if (!recycled::keeps()) GTEST_SKIP() << "this build keeps no memory";
  for (const int threads : {1, 3}) {
    const auto model = test::RealModel::load(test::bundled_target, threads);
    const auto session = model->start(128, nodes).value();
    GrowingText text;
    const auto asked = [&] {
      const std::size_t before = test::allocations();
      text.block(*session);
      return test::allocations() - before;
    };
    EXPECT_GT(asked(), 0u);  // the first pass grows recycled memory
    for (int i = 0; i < 10; ++i) EXPECT_EQ(asked(), 0u) << threads << " threads";
  }
}

TEST(Batcher, ServeTextsWithoutAskingForMemory) {
  if (!recycled::keeps()) GTEST_SKIP() << "this build keeps no memory";
  const auto model = test::RealModel::load(test::bundled_target, 2);
  const LanguageModel* const models[] = {model.transformer.get()};
  constexpr int texts = 2, first = 3, blocks = 10;
  Batcher batcher(models, texts, {.patience = std::numeric_limits<double>::infinity()});  // waits for all
  std::size_t before = 0, after = 0;
  std::barrier together(texts);
  const auto write = [&](bool counts) {
    const auto session = batcher.start(*model, 128, nodes).value();
    const Batcher::ActiveSequence active(batcher);
    GrowingText text;
    together.arrive_and_wait();  // both are active, so every pass includes both
    for (int i = 0; i < first; ++i) text.block(*session);
    together.arrive_and_wait();
    if (counts) before = test::allocations();
    for (int i = 0; i < blocks; ++i) text.block(*session);
    if (counts) after = test::allocations();
    together.arrive_and_wait();
  };
  std::jthread other([&] { write(false); });
  write(true);
  other.join();
  EXPECT_EQ(after, before);
  const PassCounts counts = batcher.counts().front();
  EXPECT_EQ(counts.sequences, texts * counts.passes);
}

}  // namespace
}  // namespace spectr
