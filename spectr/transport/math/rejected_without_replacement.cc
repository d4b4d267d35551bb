#include "spectr/transport/math/rejected_without_replacement.h"

#include <algorithm>
#include <utility>

#include "spectr/base/check.h"
#include "spectr/base/numeric.h"
#include "spectr/base/recycled.h"

namespace spectr {
namespace {

constexpr double max_terms = 2e8;

// Tokens of equal (p, q) are interchangeable; only the number of untried ones matters.
struct Group {
  double p, q;
  double untried;
};

class RejectedSequences {
 public:
  explicit RejectedSequences(const DistributionPair& distributions) {
    Sum never_drafted;
    for (std::size_t j = 0; j < distributions.size(); ++j) {
      const double p = distributions.p()[j], q = distributions.q()[j];
      if (p > 0.0) {
        groups_.push_back({p, q, 1.0});
      } else {
        never_drafted.add(q);
      }
    }
    never_drafted_ = never_drafted.value();
    std::ranges::sort(groups_, {}, [](const Group& g) { return std::pair(g.p, g.q); });
    std::size_t kept = 0;
    for (const Group& g : groups_) {
      if (kept > 0 && groups_[kept - 1].p == g.p && groups_[kept - 1].q == g.q) {
        groups_[kept - 1].untried += 1.0;
      } else {
        groups_[kept++] = g;
      }
    }
    groups_.resize(kept);
    for (const Group& g : groups_) counts_.push_back(g.untried);
  }

  // Returns the probability that the next `drafts` drafts are rejected, given the lemma's c, P and D after
  // the previous ones.
  double all_rejected(std::size_t drafts, double c, double tested, double d) {
    terms_ += static_cast<double>(groups_.size());
    if (terms_ > max_terms) return 0.0;
    const double rest =
        sum_in_blocks(0, groups_.size(), [this](std::size_t i) { return groups_[i].untried * groups_[i].p; });
    const double next_c = c * (rest / tested) + d, next_d = left(next_c, rest);
    // TV(q^m, p_m) = D_m / D_{m−1}: the probability that the last draft is rejected, whichever token it is.
    if (drafts == 1 || next_d <= 0.0) return next_d / d;
    double sum = 0.0;
    for (Group& g : groups_) {
      const double rejected = g.p / rest - std::max(0.0, g.q - c * (g.p / tested)) / d;
      if (g.untried == 0.0 || rejected <= 0.0) continue;
      const double ways = g.untried;
      g.untried -= 1.0;
      sum += ways * rejected * all_rejected(drafts - 1, next_c, rest, next_d);
      g.untried += 1.0;
    }
    return sum;
  }

  bool too_many() const { return terms_ > max_terms; }

 private:
  // Returns D = Σ (q − c p/P)₊ over all tokens, tried or not.
  double left(double c, double tested) const {
    return never_drafted_ + sum_in_blocks(0, groups_.size(), [&](std::size_t i) {
             return counts_[i] * std::max(0.0, groups_[i].q - c * (groups_[i].p / tested));
           });
  }

  RecycledVector<Group> groups_;
  RecycledVector<double> counts_;
  double never_drafted_ = 0.0;
  double terms_ = 0.0;
};

}  // namespace

std::optional<double> rejected_without_replacement(const DistributionPair& distributions, std::size_t k) {
  const auto support = std::ranges::count_if(distributions.p(), [](double mass) { return mass > 0.0; });
  SPECTR_CHECK(k >= 1 && k <= static_cast<std::size_t>(support));
  RejectedSequences sequences(distributions);
  const double rejected = sequences.all_rejected(k, 0.0, 1.0, 1.0);
  if (sequences.too_many()) return std::nullopt;
  return rejected;
}

}  // namespace spectr
