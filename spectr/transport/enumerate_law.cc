#include "spectr/transport/enumerate_law.h"

#include "spectr/base/enumerator.h"
#include "spectr/base/sum.h"

namespace spectr {

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
