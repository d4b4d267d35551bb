#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <variant>
#include <vector>

#include "spectr/nn/transformer.h"

namespace spectr {

using Row = std::vector<float>;

inline Row row_of(const Session& session, NodeId node) {
  return std::visit([](auto numbers) { return Row(numbers.begin(), numbers.end()); },
                    session.logits(node).values());
}

/// The logits after a text, computed by a fresh session in one pass.
inline Row alone(const Transformer& model, const std::vector<Token>& text) {
  const auto session = model.start(0, 1).value();
  EXPECT_TRUE(session->score(text, TokenTree(text.back())));
  return row_of(*session, TokenTree::root);
}

inline double largest_difference(const Row& a, const Row& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max<double>(most, std::abs(a[i] - b[i]));
  return most;
}

inline std::vector<Token> random_text(std::size_t length, std::size_t vocabulary, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Token> text(length);
  for (Token& token : text) token = static_cast<Token>(3 + random() % (vocabulary - 3));
  return text;
}

/// A tree of n nodes: every node hangs below a random earlier one.
inline TokenTree random_tree(Token root, NodeId nodes, std::size_t vocabulary, std::uint32_t seed) {
  std::mt19937 random(seed);
  TokenTree tree(root);
  while (tree.size() < nodes) {
    const NodeId parent = static_cast<NodeId>(random() % static_cast<std::uint32_t>(tree.size()));
    tree.child(parent, static_cast<Token>(3 + random() % (vocabulary - 3)));
  }
  return tree;
}

inline std::vector<Token> text_at(const std::vector<Token>& text, const TokenTree& tree, NodeId node) {
  std::vector<Token> path = text;
  for (NodeId step : tree.path(node)) path.push_back(tree.token(step));
  return path;
}

}  // namespace spectr
