#include "spectr/transport/plan_check.h"

#include "spectr/base/enumerator.h"

namespace spectr {

double draft_tuples(const DraftLaws& laws) {
  double tuples = 1.0;
  for (std::size_t i = 0; i < laws.count(); ++i) tuples *= static_cast<double>(laws[i].size());
  return tuples;
}

std::vector<double> enumerate_law(const TransportPlan& plan, std::size_t vocabulary) {
  std::vector<double> law(vocabulary, 0.0);
  std::vector<Token> drafts(plan.drafts());
  Enumerator outcomes;
  do {
    plan.draw(drafts, outcomes);
    const Selection y = plan.select(drafts, outcomes);
    law[static_cast<std::size_t>(y.token)] += outcomes.probability();
  } while (outcomes.next());
  return law;
}

}  // namespace spectr
