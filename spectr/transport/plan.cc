#include "spectr/transport/plan.h"

#include <algorithm>

#include "spectr/base/enumerator.h"
#include "spectr/base/numeric.h"

namespace spectr {

DraftDistributions::DraftDistributions(std::span<const Distribution* const> distributions)
    : distributions_(distributions.begin(), distributions.end()) {
  SPECTR_CHECK(!distributions_.empty());
  equal_ = std::ranges::all_of(distributions_, [this](const Distribution* distribution) {
    return distribution == distributions_.front();
  });
}

double DraftDistributions::tuples() const {
  double tuples = 1.0;
  for (const Distribution* distribution : distributions_) tuples *= static_cast<double>(distribution->size());
  return tuples;
}

std::vector<double> enumerate_distribution(const TransportPlan& plan, std::size_t vocabulary) {
  std::vector<Sum> sums(vocabulary);
  std::vector<Token> drafts(plan.drafts());
  Enumerator outcomes;
  do {
    plan.draw(drafts, outcomes);
    const Selection y = plan.select(drafts, outcomes);
    sums[static_cast<std::size_t>(y.token)].add(outcomes.probability());
  } while (outcomes.next());
  std::vector<double> distribution;
  for (const Sum& sum : sums) distribution.push_back(sum.value());
  return distribution;
}

}  // namespace spectr
