#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spectr/lm/token_tree.h"

namespace spectr {

/// The slots of a model's cache that hold the keys and values of a sequence's first tokens: slots 0 to
/// `prefix` − 1, then those in `rest`, in the order of the tokens.
struct SequenceSlots {
  std::uint32_t cache = 0;
  std::size_t prefix = 0;
  std::vector<std::int32_t> rest = {};
};

/// Per-token hidden states that a model computes before its logits; trained drafters read those of their
/// target (EAGLE-3, arXiv 2503.01840). Passes return them as a by-product. A session records them for the
/// tokens of its sequence and the nodes of its tree while recording is on. Drafters may also read the keys
/// and values of the sequence.
class Features {
 public:
  /// The tokens of the sequence whose features are recorded.
  enum class Recorded : std::uint8_t { none, last, all };

  virtual ~Features() = default;

  /// Numbers per token.
  virtual std::size_t width() const = 0;

  /// Sets which tokens are recorded, effective from the next pass. Recorded::none discards recorded features.
  virtual void record(Recorded which) = 0;
  virtual Recorded recorded() const = 0;

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

  /// Sets `out` to the slots of the first `length` tokens of the sequence. They are valid until the session's
  /// next score, keep or rewind. Requires: length ≤ the session's length.
  virtual void locate(std::size_t length, SequenceSlots& out) const = 0;
};

}  // namespace spectr
