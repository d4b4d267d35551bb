#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/base/result.h"
#include "spectr/lm/language_model.h"
#include "spectr/lm/token_tree.h"
#include "spectr/sampling/warp.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// The distributions of the next token at the nodes of a tree under one model. Each row of logits is warped
/// once, when it is first asked for. Draft and target distributions come from here alike, so that the
/// distribution that is sampled is the one that is verified. The session, the warp, the sequence and the tree
/// must outlive it; the nodes asked for must be scored.
class NodeDistributions : public RecycledObject {
 public:
  /// Whose distributions they are. A draft's may be others than a rule allows; see Warp::draft_distribution.
  enum class Role { target, draft };
  static constexpr std::size_t every_token = std::numeric_limits<std::size_t>::max();

  /// `sequence` is what the tree continues, and `vocabulary` the V of the distributions. Of a row only the
  /// first `shared` tokens count; every other token has probability 0.
  NodeDistributions(const Session& session, const Warp& warp, std::span<const Token> sequence,
                    const TokenTree& tree, std::size_t vocabulary, std::size_t shared = every_token,
                    Role role = Role::target)
      : session_(session),
        warp_(warp),
        sequence_(sequence),
        tree_(tree),
        vocabulary_(vocabulary),
        shared_(std::min(vocabulary, shared)),
        role_(role) {}

  /// The distribution after the path to `node`; the pointer stays valid as long as this object. Error: the
  /// warp's, behind the model's name.
  Result<const Distribution*> at(NodeId node);

  /// The state of the warp's feedback after the path to `node` and then `token`. Requires: there is a
  /// feedback. Error: as at().
  Result<FeedbackState> feedback_after(NodeId node, Token token);

  /// Sets the distribution after the path to `node`, instead of warping its row. Requires: at(node) has not
  /// been called.
  void set(NodeId node, Distribution distribution);

  /// The confidence of the model after the path to `node`: its largest probability there, at temperature 1
  /// and without filters. Requires: no logit NaN or +∞, one above −∞. Cost: two passes over the row, when it
  /// is first asked for.
  double confidence(NodeId node);

  /// ln P(token) of the model itself after the path to `node`: at temperature 1 and without filters; −∞ for a
  /// token that it lacks. Requires: as confidence(). Cost: a pass over the row.
  double log_likelihood(NodeId node, Token token) const;

 private:
  /// The inputs from which a feedback makes a node's distribution.
  struct Base {
    FeedbackState state;
    std::unique_ptr<Distribution> distribution;  // null where set() gave the node's
  };

  Logits row(NodeId node) const;
  /// The row's distribution, before any feedback.
  Result<Distribution> warped(NodeId node) const;

  const Session& session_;
  const Warp& warp_;
  std::span<const Token> sequence_;
  const TokenTree& tree_;
  std::size_t vocabulary_, shared_;
  Role role_;
  RecycledVector<std::unique_ptr<Distribution>> distributions_;  // by node, null until asked for
  RecycledVector<Base> bases_;                                   // by node, where there is a feedback
  RecycledVector<double> confidences_;                           // by node, below 0 until asked for
};

}  // namespace spectr
