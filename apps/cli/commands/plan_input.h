#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "apps/support/json.h"
#include "spectr/base/result.h"
#include "spectr/transport/distribution.h"
#include "spectr/transport/plan.h"

namespace spectr::cli {

/// One transport problem: k drafts from p (one distribution, or one distribution per draft) and a target q.
struct PlanProblem {
  std::vector<Distribution> p;
  Distribution q;
  std::size_t k;

  /// Equal distributions count as one distribution. A view of this problem.
  DraftDistributions drafts() const;
};

/// Reads `{"p": [...], "q": [...], "k": 2}`; p may be a list of k lists. An error names the field, the entry
/// and the value.
Result<PlanProblem> read_problem(const JsonInput& line);

}  // namespace spectr::cli
