#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tests/support/models/drafter_case.h"

namespace spectr::test {

/// Returns the name of a test of a drafter's case.
inline std::string name_of_drafter(const testing::TestParamInfo<const char*>& drafter) {
  std::string name = drafter.param;
  std::erase(name, '-');
  return name;
}

/// Returns a sequence of the references' vocabulary.
inline std::vector<Token> drafted_sequence(std::size_t length) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < length; ++i) tokens.push_back(static_cast<Token>((40 + 37 * i) % 300));
  return tokens;
}

/// Expects ‖found − expected‖ ≤ tolerance · ‖expected‖ over the finite numbers, and infinities at the same
/// places.
inline void expect_near(std::span<const float> found, std::span<const float> expected, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double off = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::isfinite(found[i]), std::isfinite(expected[i])) << what << ", number " << i;
    if (!std::isfinite(found[i])) continue;
    off += std::pow(static_cast<double>(found[i]) - static_cast<double>(expected[i]), 2);
    norm += std::pow(static_cast<double>(expected[i]), 2);
  }
  EXPECT_LE(std::sqrt(off), tolerance * std::sqrt(norm)) << what;
}

inline std::vector<float> numbers_of(const Logits& logits) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i < logits.size(); ++i)
    numbers.push_back(static_cast<float>(logits.at(static_cast<Token>(i))));
  return numbers;
}

/// Expects equal drafts of a drafter on two backends, up to a tolerance: after a prompt of several pieces,
/// for nodes of a tree, after kept paths, and after a rollback. The passes of both see the same batches.
inline void expect_equal_drafts(const DrafterCase& one, const DrafterCase& other, double tolerance) {
  const auto of_first = one.start(), of_second = other.start();
  const auto expect_same = [&](const std::vector<Token>& text, const TokenTree& tree) {
    ASSERT_TRUE(of_first.drafter->score(text, tree));
    ASSERT_TRUE(of_second.drafter->score(text, tree));
    for (NodeId node = 0; node < tree.size(); ++node) {
      const std::string what = std::to_string(text.size()) + " tokens, node " + std::to_string(node);
      expect_near(numbers_of(of_second.drafter->logits(node)), numbers_of(of_first.drafter->logits(node)),
                  tolerance, what);
    }
  };
  const auto both = [&](auto change) {
    change(of_first);
    change(of_second);
  };
  std::vector<Token> text = drafted_sequence(75);
  TokenTree tree(text.back());
  const NodeId first = tree.child(TokenTree::root, 4), second = tree.child(first, 6);
  tree.child(TokenTree::root, 9);
  expect_same(text, tree);
  for (std::size_t round = 0; round < 2; ++round) {  // the second one replays the recordings of the first
    both([&](const DrafterCase::Sessions& sessions) {
      const std::vector<NodeId> path = {first, second};
      ASSERT_TRUE(sessions.target->score(text, tree));
      sessions.target->keep(path);
      sessions.drafter->keep(path);
    });
    text.insert(text.end(), {4, 6});
    tree = TokenTree(text.back());
    tree.child(tree.child(TokenTree::root, 4), 6);
    tree.child(TokenTree::root, 9);
    expect_same(text, tree);
  }
  both([&](const DrafterCase::Sessions& sessions) {
    sessions.target->rewind(20);
    sessions.drafter->rewind(20);
  });
  text = drafted_sequence(24);
  text[20] = 8;
  expect_same(text, TokenTree(text.back()));
}

}  // namespace spectr::test
