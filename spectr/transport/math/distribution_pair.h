#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/base/token.h"
#include "spectr/transport/distribution.h"

namespace spectr {

/// Two distributions aligned on the union of their supports, tokens ascending: p()[i] and q()[i] belong to
/// token(i). The pair holds views if both distributions are dense, and merged copies otherwise. The
/// distributions must outlive the pair. Requires: the same vocabulary.
class DistributionPair {
 public:
  DistributionPair(const Distribution& p, const Distribution& q);
  DistributionPair(const DistributionPair&) = delete;
  DistributionPair& operator=(const DistributionPair&) = delete;

  std::size_t size() const { return p_.size(); }
  std::size_t vocabulary() const { return vocabulary_; }
  Token token(std::size_t i) const { return tokens_.empty() ? static_cast<Token>(i) : tokens_[i]; }
  std::span<const double> p() const { return p_; }
  std::span<const double> q() const { return q_; }

  /// Returns the index of a token, or nullopt if neither distribution lists it.
  std::optional<std::size_t> find(Token token) const { return find_token(tokens_, size(), token); }

  /// Returns the distribution proportional to weights[i] at token(i). Requires: weights.size() == size(),
  /// positive sum.
  Distribution distribution(RecycledVector<double> weights) const;

 private:
  RecycledVector<Token> tokens_;  // empty: token(i) = i
  RecycledVector<double> merged_p_, merged_q_;
  std::span<const double> p_, q_;
  std::size_t vocabulary_;
};

}  // namespace spectr
