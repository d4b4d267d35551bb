#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
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

/// Returns the logits after a text, computed by a fresh session in one pass.
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

/// Returns a tree of n nodes; the parent of each is a random earlier node.
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

/// Scores three texts of different lengths with trees together, in passes of many rows, and expects the bits
/// of separate passes. Checks every `step`-th node.
inline void expect_bits_alone_in_company(const Transformer& model, NodeId step = 1) {
  const std::size_t vocabulary = model.vocabulary();
  std::vector<std::vector<Token>> texts;
  std::vector<TokenTree> trees;
  std::vector<std::unique_ptr<Session>> sessions;
  for (std::uint32_t i = 0; i < 3; ++i) {
    texts.push_back(random_text(10 + 40 * i, vocabulary, i));
    trees.push_back(random_tree(texts[i].back(), 5, vocabulary, i));
    sessions.push_back(model.start(0, 5).value());
  }
  std::vector<Scoring> scorings;
  for (std::size_t i = 0; i < texts.size(); ++i)
    scorings.push_back({.session = sessions[i].get(), .text = texts[i], .tree = &trees[i]});
  while (!std::ranges::all_of(scorings, &Scoring::is_over)) model.score_together(scorings);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(scorings[i].result) << scorings[i].result.error().message;
    for (NodeId node = 0; node < trees[i].size(); node += step)
      EXPECT_EQ(row_of(*sessions[i], node), alone(model, text_at(texts[i], trees[i], node)));
  }
}

}  // namespace spectr
