#include "spectr/transport/plan.h"

#include <algorithm>

namespace spectr {

DraftLaws::DraftLaws(std::span<const Distribution* const> laws) : laws_(laws.begin(), laws.end()) {
  SPECTR_CHECK(!laws_.empty());
  equal_ = std::ranges::all_of(laws_, [this](const Distribution* law) { return law == laws_.front(); });
}

double DraftLaws::tuples() const {
  double tuples = 1.0;
  for (const Distribution* law : laws_) tuples *= static_cast<double>(law->size());
  return tuples;
}

}  // namespace spectr
