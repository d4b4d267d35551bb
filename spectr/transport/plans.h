#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "spectr/base/result.h"
#include "spectr/transport/drafting.h"
#include "spectr/transport/plan.h"

namespace spectr {

struct PlanOptions {
  double epsilon = 0.0;  ///< over-acceptance ε of the biased plans; below 0 they accept too little
  int rounds = 1;        ///< T of iOPT^(T), linear programs that str+ solves one upon the other, ≥ 1
};

/// One row of the table of plans.
struct PlanRule {
  std::string_view name;
  std::string_view summary;
  Drafting drafting;
  bool lossless;
  bool several_distributions;  ///< accepts drafts from different distributions p₁ … p_k
  std::size_t max_drafts;      ///< largest k, 0 = any
  double max_tuples = 0.0;     ///< of draft tokens that it takes, 0 = any
  bool reads_rounds = false;   ///< PlanOptions::rounds
  /// Builds the plan for drafts ~ p and target q; p and q must outlive it. An error says why the plan does
  /// not apply to these distributions. Requires: all distributions over one vocabulary.
  Result<std::unique_ptr<TransportPlan>> (*build)(const DraftDistributions& p, const Distribution& q,
                                                  const PlanOptions& options);
};

/// Every plan, in the order of the documentation.
std::span<const PlanRule> plan_rules();

/// The plan of that name, or an error that lists the names.
Result<const PlanRule*> find_plan(std::string_view name);

}  // namespace spectr
