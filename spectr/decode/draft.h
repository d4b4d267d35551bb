#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/decode/node_distributions.h"
#include "spectr/lm/token_tree.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// One drawn token. Draws preserve information that is lost when equal prefixes are merged into one node: the
/// number of copies of a token, their order, their parent draws, and their distributions.
struct Draw {
  NodeId node;                        ///< the node of the tree whose path ends in this token
  std::optional<std::size_t> parent;  ///< the draw that it continues; nullopt if it continues the sequence
  const Distribution* distribution;   ///< the distribution that it was drawn from; not null
  double confidence = 1.0;  ///< the model's confidence there, if the drafter uses it; see NodeDistributions
  /// ln p of the token under its model, as a JointThreshold compares it; 0 if none does.
  double log_likelihood = 0.0;
};

/// A drafter's proposal: the tree that models score, and the draws in the order in which they were made,
/// level by level.
class Draft : public RecycledObject {
 public:
  /// The root of the tree is the last token of the sequence.
  explicit Draft(Token last_token) : tree_(last_token) {}
  Draft(const Draft&) = delete;  // distributions refer to the tree
  Draft& operator=(const Draft&) = delete;

  const TokenTree& tree() const { return tree_; }
  std::span<const Draw> draws() const { return draws_; }
  const Draw& draw(std::size_t i) const { return draws_[i]; }
  Token token(std::size_t draw) const { return tree_.token(draws_[draw].node); }
  /// Returns the node of a draw, or the root for nullopt.
  NodeId node_of(std::optional<std::size_t> draw) const {
    return draw ? draws_[*draw].node : TokenTree::root;
  }

  /// Adds `token`, drawn from `distribution` below `parent`. Returns the index of the draw.
  std::size_t add(std::optional<std::size_t> parent, Token token, const Distribution* distribution,
                  double confidence = 1.0, double log_likelihood = 0.0) {
    const NodeId above = node_of(parent);
    draws_.push_back({tree_.child(above, token), parent, distribution, confidence, log_likelihood});
    return draws_.size() - 1;
  }

  /// Returns the distributions of a draft model at the nodes of this tree (see NodeDistributions). They live
  /// as long as the draft.
  NodeDistributions& distributions_of(const Session& session, const Warp& warp,
                                      std::span<const Token> sequence, std::size_t vocabulary,
                                      std::size_t shared = NodeDistributions::every_token) {
    return *distributions_.emplace_back(std::make_unique<NodeDistributions>(
        session, warp, sequence, tree_, vocabulary, shared, NodeDistributions::Role::draft));
  }

  /// Takes ownership of a distribution made by the drafter.
  const Distribution* own(Distribution distribution) {
    return owned_.emplace_back(std::make_unique<Distribution>(std::move(distribution))).get();
  }

  /// Records that the target itself grew the tree, in `target_passes` passes, and that the draws `path` are
  /// the result: the block needs no further pass.
  void settle(RecycledVector<std::size_t> path, std::size_t target_passes) {
    settled_ = std::move(path);
    target_passes_ = target_passes;
  }
  std::span<const std::size_t> settled() const { return settled_; }
  std::size_t target_passes() const { return target_passes_; }

  /// Returns the draws directly below any of `parents` (nullopt is the sequence), in the order drawn.
  RecycledVector<std::size_t> below(std::span<const std::optional<std::size_t>> parents) const {
    RecycledVector<std::size_t> found;
    for (std::size_t i = 0; i < draws_.size(); ++i) {
      for (const auto& parent : parents) {
        if (draws_[i].parent == parent) found.push_back(i);
      }
    }
    return found;
  }

 private:
  TokenTree tree_;
  RecycledVector<Draw> draws_;
  RecycledVector<std::unique_ptr<Distribution>> owned_;
  RecycledVector<std::size_t> settled_;
  std::size_t target_passes_ = 0;
  RecycledVector<std::unique_ptr<NodeDistributions>> distributions_;
};

}  // namespace spectr
