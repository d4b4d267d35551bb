#include "spectr/decode/auto/drafted_position.h"

#include <algorithm>
#include <optional>
#include <span>

#include "spectr/base/recycled.h"
#include "spectr/decode/costs/learned_position.h"
#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/plans/ticket_layout.h"

namespace spectr {
namespace {

// Up to `few_tokens` tokens are all compared; of more, those with a probability of at least
// `min_probability`.
constexpr std::size_t few_tokens = 256;
constexpr double min_probability = 1.0 / 4096.0;

/// Two distributions by index. If they have many tokens, index 0 stands for all less likely ones together,
/// but `token` always has its own index.
class ComparedPair {
 public:
  ComparedPair(const Distribution& p, const Distribution& q, std::optional<Token> token = {})
      : all_(DraftDistributions(p, 1), q) {
    const auto found = token ? all_.find(*token) : std::nullopt;
    if (all_.size() <= few_tokens) {
      token_ = found.value_or(0);
      return;
    }
    p_ = q_ = {0.0};
    for (std::size_t j = 0; j < all_.size(); ++j) {
      const double p_j = all_.p(0)[j], q_j = all_.q()[j];
      if (std::max(p_j, q_j) < min_probability && j != found) {
        p_[0] += p_j;
        q_[0] += q_j;
        continue;
      }
      if (j == found) token_ = p_.size();
      p_.push_back(p_j);
      q_.push_back(q_j);
    }
  }
  std::span<const double> p() const { return p_.empty() ? all_.p(0) : std::span<const double>(p_); }
  std::span<const double> q() const { return q_.empty() ? all_.q() : std::span<const double>(q_); }
  std::size_t token() const { return token_; }

 private:
  DistributionUnion all_;
  RecycledVector<double> p_, q_;
  std::size_t token_ = 0;
};

double merging_of(const Distribution& p) {
  double sum = 0.0;
  for (const double x : p.probabilities()) sum += x * x;
  return sum;
}

}  // namespace

DraftedPosition compare(const Distribution& p, const Distribution& q, Token token, double confidence,
                        std::size_t max_drafts) {
  const ComparedPair pair(p, q, token);
  return {confidence, merging_of(p), survivors(pair.p(), pair.q(), pair.token(), max_drafts)};
}

DraftedPosition expected(const Distribution& p, const Distribution& q, double confidence) {
  const ComparedPair pair(p, q);
  LearnedPosition position = {.confidence = confidence, .merging = merging_of(p)};
  for (std::size_t i = 0; i < LearnedPosition::drafts.size(); ++i)
    position.accepted[i] = 1.0 - lay_tickets(pair.p(), pair.q(), LearnedPosition::drafts[i]).rejected;
  return position_of(position);
}

}  // namespace spectr
