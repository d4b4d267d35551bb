#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/math/distribution_pair.h"

namespace spectr {

/// The remainder of the share c of a target distribution q after drafts from p have been served: the mass S =
/// Σ (c q − p)₊ and the distribution ∝ (c q − p)₊. It is the step of block and traversal verification. p and
/// q must outlive it.
class ExcessDistribution {
 public:
  ExcessDistribution(double c, const Distribution& q, const Distribution& p)
      : pair_(p, q), weights_(pair_.size()) {
    mass_ = sum_in_blocks(0, pair_.size(), [&](std::size_t i) {
      return weights_[i] = std::max(0.0, c * pair_.q()[i] - pair_.p()[i]);
    });
  }

  /// Returns S / (S + (1 − c)), or 1 if q = p and c = 1, where nothing remains.
  double share(double c) const {
    const double whole = mass_ + (1.0 - c);
    return whole > 0.0 ? mass_ / whole : 1.0;
  }

  /// Returns the distribution ∝ (c q − p)₊, or nullopt if S = 0.
  std::optional<Distribution> distribution() && {
    if (mass_ > 0.0) return pair_.distribution(std::move(weights_));
    return std::nullopt;
  }

 private:
  DistributionPair pair_;
  RecycledVector<double> weights_;
  double mass_;
};

}  // namespace spectr
