#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"

namespace spectr {

/// The draft distributions p₁ … p_k and the target distribution q side by side on the union of their
/// supports, tokens ascending: p(i)[j] and q()[j] belong to the j-th. Views of the distributions where all
/// are dense, merged copies otherwise, one for all draft distributions that are equal. The distributions must
/// outlive it. DistributionPair is the case of one draft distribution. Requires: one vocabulary.
class DistributionUnion {
 public:
  DistributionUnion(const DraftDistributions& p, const Distribution& q);
  DistributionUnion(const DistributionUnion&) = delete;
  DistributionUnion& operator=(const DistributionUnion&) = delete;
  DistributionUnion(DistributionUnion&&) = default;

  std::size_t drafts() const { return p_.size(); }
  std::size_t size() const { return q_.size(); }
  Token token(std::size_t j) const { return tokens_.empty() ? static_cast<Token>(j) : tokens_[j]; }
  /// Where a token stands, nullopt if no distribution lists it.
  std::optional<std::size_t> find(Token token) const { return find_token(tokens_, size(), token); }
  std::span<const double> p(std::size_t i) const { return p_[i]; }
  std::span<const double> q() const { return q_; }

  /// The distribution proportional to weights[j] at the j-th token. Requires: weights.size() == size(),
  /// positive sum.
  Distribution distribution(RecycledVector<double> weights) const;

 private:
  void merge(const DraftDistributions& p, const Distribution& q);

  RecycledVector<Token> tokens_;   // empty: the j-th is j
  RecycledVector<double> merged_;  // rows p₁ … p_k (or p), q where the distributions are merged
  RecycledVector<std::span<const double>> p_;
  std::span<const double> q_;
  std::size_t vocabulary_;
};

}  // namespace spectr
