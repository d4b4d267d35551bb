#include "spectr/transport/math/distribution_union.h"

#include <algorithm>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

// Writes the probabilities of `distribution` at `tokens`, a superset of its support.
void spread(const Distribution& distribution, std::span<const Token> tokens, std::span<double> row) {
  std::size_t j = 0;
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    while (tokens[j] != distribution.token(i)) ++j;
    row[j] = distribution.probabilities()[i];
  }
}

}  // namespace

DistributionUnion::DistributionUnion(const DraftDistributions& p, const Distribution& q)
    : vocabulary_(q.vocabulary()) {
  bool views = q.is_dense();
  for (std::size_t i = 0; i < p.count(); ++i) {
    SPECTR_CHECK(p[i].vocabulary() == vocabulary_);
    views = views && p[i].is_dense();
  }
  if (!views) {
    merge(p, q);
    return;
  }
  for (std::size_t i = 0; i < p.count(); ++i) p_.push_back(p[i].probabilities());
  q_ = q.probabilities();
}

void DistributionUnion::merge(const DraftDistributions& p, const Distribution& q) {
  const auto add_support = [this](const Distribution& distribution) {
    for (std::size_t i = 0; i < distribution.size(); ++i) tokens_.push_back(distribution.token(i));
  };
  const std::size_t different = p.equal() ? 1 : p.count();
  add_support(q);
  for (std::size_t i = 0; i < different; ++i) add_support(p[i]);
  std::ranges::sort(tokens_);
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());

  const std::size_t n = tokens_.size();
  merged_.resize((different + 1) * n, 0.0);
  const auto row = [this, n](std::size_t i) { return std::span(merged_).subspan(i * n, n); };
  for (std::size_t i = 0; i < different; ++i) spread(p[i], tokens_, row(i));
  for (std::size_t i = 0; i < p.count(); ++i) p_.emplace_back(row(p.equal() ? 0 : i));
  spread(q, tokens_, row(different));
  q_ = row(different);
}

Distribution DistributionUnion::distribution(RecycledVector<double> weights) const {
  if (tokens_.empty()) return Distribution::from_weights(std::move(weights));
  return Distribution::from_weights(tokens_, std::move(weights), vocabulary_);
}

}  // namespace spectr
