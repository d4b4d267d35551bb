#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/transport/drafting.h"
#include "spectr/transport/plan.h"

namespace spectr {

struct PlanOptions {
  double epsilon = 0.0;  ///< over-acceptance ε of the biased plans; negative values under-accept
  int rounds = 1;        ///< T of iOPT^(T): number of linear programs that str+ solves in sequence, ≥ 1
};

/// A row of the table of plans.
struct PlanRule {
  std::string_view name;
  std::string_view summary;
  Drafting drafting;
  bool lossless;
  bool several_distributions;  ///< supports drafts from different distributions p₁ … p_k
  std::size_t max_drafts;      ///< largest k, 0 = any
  double max_tuples = 0.0;     ///< maximum number of draft tuples, 0 = any
  bool reads_rounds = false;   ///< uses PlanOptions::rounds
  /// Builds the plan for drafts ~ p and target q; both must outlive it. Fails if the plan does not support
  /// these distributions. Requires: all distributions over one vocabulary.
  Result<std::unique_ptr<TransportPlan>> (*build)(const DraftDistributions& p, const Distribution& q,
                                                  const PlanOptions& options);
};

/// Returns all plans, in the order of the documentation.
std::span<const PlanRule> plan_rules();

/// Returns the plan with this name, or an error that lists the names.
Result<const PlanRule*> find_plan(std::string_view name);

}  // namespace spectr
