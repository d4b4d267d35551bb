#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"

namespace spectr {

/// The draft distributions p₁ … p_k and the target distribution q aligned on the union of their supports,
/// tokens ascending: p(i)[j] and q()[j] belong to token(j). Holds views if all distributions are dense, and
/// merged copies otherwise, with one copy if all draft distributions are equal. The distributions must
/// outlive it. DistributionPair is the special case of one draft distribution. Requires: the same vocabulary.
class DistributionUnion {
 public:
  DistributionUnion(const DraftDistributions& p, const Distribution& q);
  DistributionUnion(const DistributionUnion&) = delete;
  DistributionUnion& operator=(const DistributionUnion&) = delete;
  DistributionUnion(DistributionUnion&&) = default;

  std::size_t drafts() const { return p_.size(); }
  std::size_t size() const { return q_.size(); }
  Token token(std::size_t j) const { return tokens_.empty() ? static_cast<Token>(j) : tokens_[j]; }
  /// Returns the index of a token, or nullopt if no distribution lists it.
  std::optional<std::size_t> find(Token token) const { return find_token(tokens_, size(), token); }
  std::span<const double> p(std::size_t i) const { return p_[i]; }
  std::span<const double> q() const { return q_; }

  /// Returns the distribution proportional to weights[j] at token(j). Requires: weights.size() == size(),
  /// positive sum.
  Distribution distribution(RecycledVector<double> weights) const;

 private:
  void merge(const DraftDistributions& p, const Distribution& q);

  RecycledVector<Token> tokens_;   // empty: token(j) = j
  RecycledVector<double> merged_;  // if merged: rows p₁ … p_k (or p), q
  RecycledVector<std::span<const double>> p_;
  std::span<const double> q_;
  std::size_t vocabulary_;
};

}  // namespace spectr
