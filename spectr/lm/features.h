#pragma once

#include <cstddef>
#include <span>

#include "spectr/lm/token_tree.h"

namespace spectr {

/// The states that a model computed on the way to its logits, by token: what a trained drafter reads of its
/// target (EAGLE-3, arXiv 2503.01840). Passes hand them out as a by-product. A session records them for the
/// tokens of its sequence and for the nodes of its tree while somebody asks for that.
class Features {
 public:
  virtual ~Features() = default;

  /// Numbers per token.
  virtual std::size_t width() const = 0;

  /// Starts or stops recording, for passes that follow. Stopping drops what is recorded.
  virtual void record(bool on) = 0;
  virtual bool records() const = 0;

  /// Positions [first(), end()) of the session's sequence are recorded.
  virtual std::size_t first() const = 0;
  virtual std::size_t end() const = 0;
  /// The features of a token of the sequence, valid until the next call of score, keep or rewind of the
  /// session. Requires: first() ≤ position < end().
  virtual std::span<const float> at(std::size_t position) const = 0;
  /// The features of a node of the tree. Requires: recording; the node is not the root, and was scored since
  /// the last keep or rewind.
  virtual std::span<const float> of(NodeId node) const = 0;

  /// Drops the features of all positions before `position`.
  virtual void drop(std::size_t position) = 0;
};

}  // namespace spectr
