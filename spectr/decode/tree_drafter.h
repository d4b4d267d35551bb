#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "spectr/base/recycled.h"
#include "spectr/decode/drafter.h"
#include "spectr/transport/plans.h"

namespace spectr {

/// Draws a tree of drafts, level by level. Every copy of a node at depth i has factors[i] children, drawn
/// from the draft's distribution at that node in the way of its Drafting.
///
/// One class covers a chain (1, 1, …), K independent draft sequences (K, 1, 1, …) and a prefix tree (k₁, k₂,
/// …) (SpecTr, arXiv 2310.15141, algorithms 3 and 4). Copies with equal prefixes share a node, hence a row of
/// the model's pass, but remain separate draws. With several draft models the children of the root are
/// distributed to the models in rotation, and each sequence continues with its own model (SpecInfer, arXiv
/// 2305.09781), unless one model draws all of them; with fewer children than models the last models are not
/// used. Drafts end when a drawing model has no context left, or lacks a token of the sequence. Cost: one
/// pass of each drawing model per level, over all distinct nodes of the level.
///
/// With a bound of the reach, a copy has children only while the product of the model's confidences on its
/// path is not below that bound. Theorem: a walk that is lossless at every node is lossless on such trees.
/// *Why:* whether a node has children, and how many, is a function of the draws above them; given these, they
/// are drawn from the draft's distribution as usual.
class TreeDrafter final : public Drafter {
 public:
  /// `model` draws all drafts; if unset, all models draw. Confidences are computed only if there is a bound.
  TreeDrafter(RecycledVector<std::size_t> factors, Drafting drafting, std::optional<std::size_t> model = {},
              std::optional<double> min_reach = {})
      : factors_(std::move(factors)), drafting_(drafting), model_(model), min_reach_(min_reach) {}

  /// Returns the factors of K draft sequences of L tokens that share the first `trunk` tokens. Requires:
  /// trunk < length.
  static RecycledVector<std::size_t> sequences(std::size_t drafts, std::size_t length, std::size_t trunk = 0);

  Result<void> propose(const BlockStart& start, Models& models, Choices& choices, Draft& draft) override;
  std::size_t max_nodes(std::size_t left) const override;
  DraftShape shape() const override;

 private:
  RecycledVector<std::size_t> factors_;
  Drafting drafting_;
  std::optional<std::size_t> model_;
  std::optional<double> min_reach_;
};

}  // namespace spectr
