// What a pass needs is planned when a session starts: passes ask for no memory.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/allocations.h"
#include "tests/support/real_model.h"

namespace spectr {
namespace {

TEST(Session, ScoresTextAndTreesWithoutAskingForMemory) {
  const auto model = test::RealModel::load(test::bundled_target);
  constexpr NodeId nodes = 9;
  const auto session = model->start(128, nodes).value();

  std::vector<Token> text = {1, 40, 50, 60};
  // A chain of four tokens with one more below each of its nodes.
  const auto tree_below = [](Token last) {
    TokenTree tree(last);
    for (NodeId above = TokenTree::root, i = 0; i < 4; ++i) {
      const NodeId next = tree.child(above, 100 + i);
      tree.child(above, 200 + i);
      above = next;
    }
    return tree;
  };
  const auto block = [&] {
    const TokenTree tree = tree_below(text.back());
    const RecycledVector<NodeId> path = tree.path(3);
    const std::size_t before = test::allocations();
    EXPECT_TRUE(session->score(text, tree));
    session->keep(path);
    const std::size_t asked = test::allocations() - before;
    for (const NodeId node : path) text.push_back(tree.token(node));
    text.push_back(70);
    return asked;
  };
  EXPECT_GT(block(), 0u);  // the first one grows what is kept
  for (int i = 0; i < 10; ++i) EXPECT_EQ(block(), 0u);
}

}  // namespace
}  // namespace spectr
