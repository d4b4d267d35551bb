#pragma once

#include <cstddef>
#include <span>

#include "spectr/lm/token_tree.h"

namespace spectr {

/// Per-token hidden states that a model computes before its logits; trained drafters read those of their
/// target (EAGLE-3, arXiv 2503.01840). Passes return them as a by-product. A session records them for the
/// tokens of its sequence and the nodes of its tree while recording is on.
class Features {
 public:
  virtual ~Features() = default;

  /// Numbers per token.
  virtual std::size_t width() const = 0;

  /// Starts or stops recording, effective from the next pass. Stopping discards recorded features.
  virtual void record(bool on) = 0;
  virtual bool records() const = 0;

  /// Positions [first(), end()) of the session's sequence have recorded features.
  virtual std::size_t first() const = 0;
  virtual std::size_t end() const = 0;
  /// Returns the features of a token of the sequence. They are valid until the session's next score, keep or
  /// rewind. Requires: first() ≤ position < end().
  virtual std::span<const float> at(std::size_t position) const = 0;
  /// Returns the features of a node of the tree. Requires: recording is on; the node is not the root and was
  /// scored since the last keep or rewind.
  virtual std::span<const float> of(NodeId node) const = 0;

  /// Discards the features of all positions before `position`.
  virtual void drop(std::size_t position) = 0;
};

}  // namespace spectr
