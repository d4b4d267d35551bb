#pragma once

#include <cstddef>
#include <cstdint>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/base/token.h"

namespace spectr {

/// A node of a token tree; 0 is the root.
using NodeId = std::int32_t;

/// A tree of distinct continuations of a sequence that a model scores in one pass. The root is the last token
/// of the sequence; every other node appends a token to its parent's path. Equal paths are one node: `child`
/// returns the existing one. Parents come before their children. Requires: every NodeId argument is a node of
/// the tree.
class TokenTree {
 public:
  static constexpr NodeId root = 0;

  explicit TokenTree(Token last_token_of_text) { nodes_.push_back({last_token_of_text, root, 0}); }

  /// Returns the node for `token` below `parent`, creating it if needed.
  NodeId child(NodeId parent, Token token) {
    SPECTR_CHECK(parent >= 0 && parent < size());
    for (NodeId n = parent + 1; n < size(); ++n) {
      if (at(n).parent == parent && at(n).token == token) return n;
    }
    nodes_.push_back({token, parent, at(parent).depth + 1});
    return size() - 1;
  }

  /// Returns the number of nodes, including the root.
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  Token token(NodeId node) const { return at(node).token; }
  NodeId parent(NodeId node) const { return at(node).parent; }
  /// Returns the number of tokens on the path from the root, excluding the root: 0 for the root.
  int depth(NodeId node) const { return at(node).depth; }

  /// Returns the nodes from the root (excluded) to `node`.
  RecycledVector<NodeId> path(NodeId node) const {
    RecycledVector<NodeId> nodes(static_cast<std::size_t>(depth(node)));
    for (std::size_t i = nodes.size(); i-- > 0; node = parent(node)) nodes[i] = node;
    return nodes;
  }

 private:
  struct Node {
    Token token;
    NodeId parent;
    int depth;
  };
  const Node& at(NodeId node) const { return nodes_[static_cast<std::size_t>(node)]; }
  RecycledVector<Node> nodes_;
};

}  // namespace spectr
