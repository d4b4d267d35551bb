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
/// once, on first use. It provides both draft and target distributions, so that the distribution that is
/// sampled is the one that is verified. The session, the warp, the sequence and the tree must outlive it;
/// requested nodes must have been scored.
class NodeDistributions : public RecycledObject {
 public:
  /// The role of the model. A draft's distributions need not follow the rule; see Warp::draft_distribution.
  enum class Role { target, draft };
  static constexpr std::size_t every_token = std::numeric_limits<std::size_t>::max();

  /// `sequence` is what the tree continues, and `vocabulary` is the V of the distributions. Only the first
  /// `shared` tokens of a row are used; all others have probability 0.
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

  /// Returns the distribution after the path to `node`; the pointer stays valid as long as this object. Fails
  /// like the warp, with the model's name in the message.
  Result<const Distribution*> at(NodeId node);

  /// Returns the state of the warp's feedback after the path to `node` and then `token`. Requires: the warp
  /// has a feedback. Fails like at().
  Result<FeedbackState> feedback_after(NodeId node, Token token);

  /// Sets the distribution after the path to `node`, instead of warping its row. Requires: at(node) has not
  /// been called.
  void set(NodeId node, Distribution distribution);

  /// Returns the confidence of the model after the path to `node`: its largest probability there, at
  /// temperature 1 and without filters. Requires: no logit NaN or +∞, one above −∞. Cost: two passes over the
  /// row, on first use.
  double confidence(NodeId node);

  /// Returns ln P(token) of the model itself after the path to `node`, at temperature 1 and without filters;
  /// −∞ for a token that it lacks. Requires: the preconditions of confidence(). Cost: a pass over the row.
  double log_likelihood(NodeId node, Token token) const;

 private:
  /// The inputs from which a feedback makes a node's distribution.
  struct Base {
    FeedbackState state;
    std::unique_ptr<Distribution> distribution;  // null if set by set()
  };

  Logits row(NodeId node) const;
  /// Returns the row's distribution, before any feedback.
  Result<Distribution> warped(NodeId node) const;

  const Session& session_;
  const Warp& warp_;
  std::span<const Token> sequence_;
  const TokenTree& tree_;
  std::size_t vocabulary_, shared_;
  Role role_;
  RecycledVector<std::unique_ptr<Distribution>> distributions_;  // by node; null until requested
  RecycledVector<Base> bases_;                                   // by node, if there is a feedback
  RecycledVector<double> confidences_;                           // by node; negative until requested
};

}  // namespace spectr
