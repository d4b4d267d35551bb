#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spectr/lm/features.h"
#include "spectr/nn/kv_slots.h"

namespace spectr {

/// The features of a session: the latest positions of its sequence, without gaps, and the nodes of its tree.
class FeatureLog final : public Features {
 public:
  /// `slots`, those of the session, must outlive it.
  FeatureLog(std::size_t width, const KvSlots& slots) : width_(width), slots_(slots) {}

  /// Takes the features of the token at `position`. Recorded positions from there on are dropped, and so are
  /// all if `position` does not follow the last one or only the last token is recorded.
  void add(std::size_t position, std::span<const float> features);
  void add_node(NodeId node, std::span<const float> features);
  /// Appends the nodes of an accepted path as positions from `length` on. Nodes that were not computed here
  /// end the path.
  void keep(std::span<const NodeId> path, std::size_t length);
  /// Drops positions from `length` on, and the tree.
  void rewind(std::size_t length);

  std::size_t width() const override { return width_; }
  void record(Recorded which) override;
  Recorded recorded() const override { return recorded_; }
  std::size_t first() const override { return end_ - positions_.size() / width_; }
  std::size_t end() const override { return end_; }
  std::span<const float> at(std::size_t position) const override;
  std::span<const float> of(NodeId node) const override;
  void drop(std::size_t position) override;
  void locate(std::size_t length, SequenceSlots& out) const override { slots_.locate(length, out); }

 private:
  std::size_t width_;
  const KvSlots& slots_;
  Recorded recorded_ = Recorded::none;
  std::size_t end_ = 0;           // after the last recorded position
  std::vector<float> positions_;  // [end_ − first(), width_]
  std::vector<float> nodes_;      // by node, [nodes, width_]
};

}  // namespace spectr
