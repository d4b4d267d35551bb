#include "spectr/transport/plan_check.h"

#include "spectr/base/enumerator.h"
#include "spectr/base/sum.h"

namespace spectr {

double draft_tuples(const DraftLaws& laws) {
  double tuples = 1.0;
  for (std::size_t i = 0; i < laws.count(); ++i) tuples *= static_cast<double>(laws[i].size());
  return tuples;
}

std::vector<double> enumerate_law(const TransportPlan& plan, std::size_t vocabulary) {
  std::vector<Sum> sums(vocabulary);
  std::vector<Token> drafts(plan.drafts());
  Enumerator outcomes;
  do {
    plan.draw(drafts, outcomes);
    const Selection y = plan.select(drafts, outcomes);
    sums[static_cast<std::size_t>(y.token)].add(outcomes.probability());
  } while (outcomes.next());
  std::vector<double> law;
  for (const Sum& sum : sums) law.push_back(sum.value());
  return law;
}

}  // namespace spectr
