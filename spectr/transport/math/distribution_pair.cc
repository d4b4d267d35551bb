#include "spectr/transport/math/distribution_pair.h"

#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"

namespace spectr {

DistributionPair::DistributionPair(const Distribution& p, const Distribution& q)
    : vocabulary_(q.vocabulary()) {
  SPECTR_CHECK(p.vocabulary() == q.vocabulary());
  if (p.is_dense() && q.is_dense()) {
    p_ = p.probabilities();
    q_ = q.probabilities();
    return;
  }
  const std::size_t most = p.size() + q.size();
  tokens_.reserve(most);
  merged_p_.reserve(most);
  merged_q_.reserve(most);
  std::size_t i = 0, j = 0;
  while (i < p.size() || j < q.size()) {
    const bool from_p = j == q.size() || (i < p.size() && p.token(i) <= q.token(j));
    const bool from_q = i == p.size() || (j < q.size() && q.token(j) <= p.token(i));
    tokens_.push_back(from_p ? p.token(i) : q.token(j));
    merged_p_.push_back(from_p ? p.probabilities()[i++] : 0.0);
    merged_q_.push_back(from_q ? q.probabilities()[j++] : 0.0);
  }
  p_ = merged_p_;
  q_ = merged_q_;
}

Distribution DistributionPair::distribution(RecycledVector<double> weights) const {
  if (tokens_.empty()) return Distribution::from_weights(std::move(weights));
  return Distribution::from_weights(tokens_, std::move(weights), vocabulary_);
}

}  // namespace spectr
