#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "apps/cli/failure.h"
#include "spectr/transport/plans.h"

namespace spectr::cli {

struct PlanFlags {
  std::string plan;
  double epsilon = 0.0;
  int rounds = 1;

  PlanOptions options() const { return {.epsilon = epsilon, .rounds = rounds}; }
};

struct PlanSampleFlags : PlanFlags {
  std::uint64_t draws = 100'000;
  std::uint64_t seed = 0;
};

struct PlanTimeFlags : PlanFlags {  ///< an empty plan selects all plans
  long vocabulary = 32'000;
  long drafts = 4;
  std::uint32_t seed = 0;
  std::string laws = "random";  ///< a name of bench::law_kinds
};

/// Answers each line `{id, p, q, k}` with `{id, plan, k, acceptance, law, residual,
/// parameters}`, or with `{id, error}`; returns Status::usage if there was an error. law
/// is the exact distribution of Y, by enumeration of all draft tuples through select();
/// null above 200,000 tuples V^k or 5·10⁸ outcomes V^(k + 1) (divided by V / 100 for
/// drafts without replacement and V above 100). acceptance is null if it is not
/// computed: recursive-wor with many drafts (see rejected_without_replacement). residual
/// is null if acceptance is 1 or if it depends on the drafts. Throws Failure for an
/// unknown plan.
Status run_plan_eval(std::istream& in, std::ostream& out, const PlanFlags& flags);

/// Answers each line with `{id, plan, k, draws, accepted, counts}` of Y over `draws` independent draws.
Status run_plan_sample(std::istream& in, std::ostream& out, const PlanSampleFlags& flags);

/// Prints `{plan, vocab, k, laws, microseconds, builds}` per plan for one pair of dense distributions, with
/// the median time of a build. Throws Failure for an unknown plan or kind of distributions.
Status run_plan_time(std::ostream& out, const PlanTimeFlags& flags);

}  // namespace spectr::cli
