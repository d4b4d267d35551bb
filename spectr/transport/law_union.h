#pragma once

#include <cstddef>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"

namespace spectr {

/// The draft laws p₁ … p_k and the target law q side by side on the union of their supports, tokens
/// ascending: p(i)[j] and q()[j] belong to the j-th. Views of the laws where all are dense, merged copies
/// otherwise, one for all draft laws that are equal. The laws must outlive it. LawPair is the case of one
/// draft law. Requires: one vocabulary.
class LawUnion {
 public:
  LawUnion(const DraftLaws& p, const Distribution& q);
  LawUnion(const LawUnion&) = delete;
  LawUnion& operator=(const LawUnion&) = delete;

  std::size_t drafts() const { return p_.size(); }
  std::size_t size() const { return q_.size(); }
  std::span<const double> p(std::size_t i) const { return p_[i]; }
  std::span<const double> q() const { return q_; }

  /// The law proportional to weights[j] at the j-th token. Requires: weights.size() == size(), positive sum.
  Distribution law(RecycledVector<double> weights) const;

 private:
  void merge(const DraftLaws& p, const Distribution& q);

  RecycledVector<Token> tokens_;   // empty: the j-th is j
  RecycledVector<double> merged_;  // rows p₁ … p_k (or p), q where the laws are merged
  RecycledVector<std::span<const double>> p_;
  std::span<const double> q_;
  std::size_t vocabulary_;
};

}  // namespace spectr
