#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/result.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"

namespace spectr::cli {

/// A transport problem: k drafts from p (one distribution for all, or one per draft) and a target q.
struct PlanProblem {
  std::vector<Distribution> p;
  Distribution q;
  std::size_t k;

  /// Returns a view of this problem. Equal distributions count as one.
  DraftDistributions drafts() const;
};

/// Reads `{"p": [...], "q": [...], "k": 2}`, where p may be a list of k lists. Errors name the field, the
/// entry and the value.
Result<PlanProblem> read_problem(const JsonInput& line);

}  // namespace spectr::cli
