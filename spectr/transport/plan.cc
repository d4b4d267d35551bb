#include "spectr/transport/plan.h"

#include <algorithm>
#include <utility>

namespace spectr {

DraftLaws::DraftLaws(std::vector<const Distribution*> laws) : laws_(std::move(laws)) {
  SPECTR_CHECK(!laws_.empty());
  equal_ = std::ranges::all_of(laws_, [this](const Distribution* law) { return law == laws_.front(); });
}

}  // namespace spectr
