#include "spectr/lm/token_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spectr/base/check.h"

namespace spectr {
namespace {

using testing::ElementsAre;

TEST(TokenTree, EqualPathsAreOneNode) {
  TokenTree tree(7);
  const NodeId a = tree.child(TokenTree::root, 1), b = tree.child(TokenTree::root, 2);
  const NodeId below_a = tree.child(a, 2), below_b = tree.child(b, 2);
  EXPECT_NE(below_a, below_b);  // equal tokens after different paths
  EXPECT_EQ(tree.child(TokenTree::root, 2), b);
  EXPECT_EQ(tree.child(a, 2), below_a);
  EXPECT_EQ(tree.size(), 5);
  EXPECT_EQ(tree.token(TokenTree::root), 7);
  EXPECT_EQ(tree.depth(below_b), 2);
  EXPECT_EQ(tree.parent(below_b), b);
  EXPECT_THAT(tree.path(below_b), ElementsAre(b, below_b));
  EXPECT_TRUE(tree.path(TokenTree::root).empty());
  EXPECT_THROW(tree.child(99, 1), BrokenContract);
  EXPECT_THROW(tree.child(-1, 1), BrokenContract);
}

}  // namespace
}  // namespace spectr
