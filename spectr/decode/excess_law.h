#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "spectr/base/recycled.h"
#include "spectr/base/sum.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/law_pair.h"

namespace spectr {

/// What is left of a target law q, of which the share c is still to be served, after drafts from p have been:
/// S = Σ (c q − p)₊ and the law ∝ (c q − p)₊ (none where S = 0). The step of block and traversal
/// verification.
struct ExcessLaw {
  double mass;
  std::optional<Distribution> law;

  ExcessLaw(double c, const Distribution& q, const Distribution& p) : mass(0.0) {
    const LawPair pair(p, q);
    RecycledVector<double> weights(pair.size());
    mass = sum_in_blocks(0, pair.size(), [&](std::size_t i) {
      return weights[i] = std::max(0.0, c * pair.q()[i] - pair.p()[i]);
    });
    if (mass > 0.0) law = pair.law(std::move(weights));
  }

  /// S / (S + (1 − c)): 1 where q = p and c = 1, where nothing can be left over.
  double share(double c) const {
    const double whole = mass + (1.0 - c);
    return whole > 0.0 ? mass / whole : 1.0;
  }
};

}  // namespace spectr
