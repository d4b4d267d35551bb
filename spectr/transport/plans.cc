#include "spectr/transport/plans.h"

#include <array>

#include "spectr/base/names.h"
#include "spectr/transport/plans/k_seq.h"
#include "spectr/transport/plans/maximal_coupling.h"
#include "spectr/transport/plans/over_acceptance.h"
#include "spectr/transport/plans/recursive_rejection.h"
#include "spectr/transport/plans/recursive_without_replacement.h"
#include "spectr/transport/plans/spectr_plus.h"
#include "spectr/transport/plans/tickets.h"
#include "spectr/transport/programs/tuple_lp.h"

namespace spectr {
namespace {

using enum Drafting;

// To add a plan, add one pair of files and one row here.
constexpr auto rules = std::to_array<PlanRule>({
    {.name = "maximal",
     .summary = "maximal coupling of the first draft: speculative decoding",
     .drafting = independent,
     .lossless = true,
     .several_distributions = false,
     .max_drafts = 0,
     .build = build_maximal},
    {.name = "k-seq",
     .summary = "one division factor for all drafts; within 1 - 1/e of the optimum",
     .drafting = independent,
     .lossless = true,
     .several_distributions = true,
     .max_drafts = 0,
     .build = build_k_seq},
    {.name = "recursive",
     .summary = "each draft against the residual of the ones before",
     .drafting = independent,
     .lossless = true,
     .several_distributions = true,
     .max_drafts = 0,
     .build = build_recursive},
    {.name = "recursive-wor",
     .summary = "recursive rejection of different drafts, drawn without replacement",
     .drafting = without_replacement,
     .lossless = true,
     .several_distributions = false,
     .max_drafts = 0,
     .build = build_recursive_wor},
    {.name = "str+",
     .summary = "SpecTr+: a factor per draft, by a linear program",
     .drafting = independent,
     .lossless = true,
     .several_distributions = true,
     .max_drafts = 0,
     .reads_rounds = true,
     .build = build_str_plus},
    {.name = "str++",
     .summary = "SpecTr++: str+ repeated until nothing changes",
     .drafting = independent,
     .lossless = true,
     .several_distributions = true,
     .max_drafts = 0,
     .build = build_str_plus_plus},
    {.name = "optimal",
     .summary = "tickets: the optimum for equal draft laws",
     .drafting = independent,
     .lossless = true,
     .several_distributions = false,
     .max_drafts = 0,
     .build = build_tickets},
    {.name = "otm-lp",
     .summary = "the optimum by its linear program, for up to 20,000 draft tuples",
     .drafting = independent,
     .lossless = true,
     .several_distributions = true,
     .max_drafts = 0,
     .max_tuples = max_tuples,
     .build = build_tuple_lp},
    {.name = "optimal-wor",
     .summary = "the optimum of different drafts, by its linear program, for up to 20,000 draft tuples",
     .drafting = without_replacement,
     .lossless = true,
     .several_distributions = false,
     .max_drafts = 0,
     .max_tuples = max_tuples,
     .build = build_tuple_lp_without_replacement},
    {.name = "epsilon-opt",
     .summary = "accepts epsilon too much, with the least bias that this leaves",
     .drafting = independent,
     .lossless = false,
     .several_distributions = false,
     .max_drafts = 1,
     .build = build_epsilon_opt},
    {.name = "epsilon-uno",
     .summary = "accepts epsilon too much and corrects with draws from the target: a baseline",
     .drafting = independent,
     .lossless = false,
     .several_distributions = false,
     .max_drafts = 1,
     .build = build_epsilon_uno},
});

}  // namespace

std::span<const PlanRule> plan_rules() {
  return rules;
}

Result<const PlanRule*> find_plan(std::string_view name) {
  return find_named(rules, "plan", name);
}

}  // namespace spectr
