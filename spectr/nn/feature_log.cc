#include "spectr/nn/feature_log.h"

#include <algorithm>

#include "spectr/base/check.h"

namespace spectr {

void FeatureLog::add(std::size_t position, std::span<const float> features) {
  SPECTR_CHECK(features.size() == width_);
  if (position > end_ || position < first() || recorded_ == Recorded::last) {
    positions_.clear();
    end_ = position;
  }
  positions_.resize(positions_.size() - (end_ - position) * width_);
  positions_.insert(positions_.end(), features.begin(), features.end());
  end_ = position + 1;
}

void FeatureLog::add_node(NodeId node, std::span<const float> features) {
  const std::size_t at = static_cast<std::size_t>(node) * width_;
  nodes_.resize(std::max(nodes_.size(), at + width_));
  std::ranges::copy(features, nodes_.begin() + static_cast<std::ptrdiff_t>(at));
}

void FeatureLog::keep(std::span<const NodeId> path, std::size_t length) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (nodes_.size() < (static_cast<std::size_t>(path[i]) + 1) * width_) break;
    add(length + i, of(path[i]));
  }
  nodes_.clear();
}

void FeatureLog::rewind(std::size_t length) {
  nodes_.clear();
  if (length >= end_) return;
  positions_.resize(length > first() ? (length - first()) * width_ : 0);
  end_ = length;
}

void FeatureLog::record(Recorded which) {
  recorded_ = which;
  if (which != Recorded::none) return;
  positions_.clear();
  nodes_.clear();
}

std::span<const float> FeatureLog::at(std::size_t position) const {
  SPECTR_CHECK(position >= first() && position < end_);
  return std::span(positions_).subspan((position - first()) * width_, width_);
}

std::span<const float> FeatureLog::of(NodeId node) const {
  const std::size_t at = static_cast<std::size_t>(node) * width_;
  SPECTR_CHECK(node != TokenTree::root && at + width_ <= nodes_.size());
  return std::span(nodes_).subspan(at, width_);
}

void FeatureLog::drop(std::size_t position) {
  const std::size_t count = std::min(position, end_) - std::min(position, first());
  positions_.erase(positions_.begin(), positions_.begin() + static_cast<std::ptrdiff_t>(count * width_));
}

}  // namespace spectr
