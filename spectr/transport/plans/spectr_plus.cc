#include "spectr/transport/plans/spectr_plus.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spectr/transport/math/distribution_union.h"
#include "spectr/transport/math/division_factor.h"
#include "spectr/transport/math/ratio_cuts.h"
#include "spectr/transport/plans/generalised_k_seq.h"
#include "spectr/transport/programs/rejection_program.h"

namespace spectr {
namespace {

/// Bounds of p/q are at least 1/ρ ≥ 1/k, so ratios q/p of 2k and more may share a bucket. Ratios above this
/// limit also share one.
constexpr double max_ratio = 4096.0;

/// Ratios p/q that differ by less count as equal.
constexpr double equality = 1e-12;

/// A draft that is reached with lower probability than this need not be tested.
constexpr double never = 1e-14;

/// Largest s − 1 that can be explained by the tolerance of the solver.
constexpr double largest_excess = 1e-9;

/// If a round accepts less than the previous one by more than this, the solver cannot improve the tests
/// further.
constexpr double rounding = 1e-12;

/// If a round reduces the acceptance by more than this, the solver has failed.
constexpr double largest_loss = 1e-10;

/// The tests of one round, their effect, and the bounds of the sets for the next round.
struct Round {
  GeneralisedTests tests;
  GeneralisedOutcome outcome;
  std::vector<double> next_bound;

  double acceptance() const { return (1.0 - outcome.u.back()) / outcome.excess; }
  bool settled() const { return next_bound == tests.bound; }
};

/// The data that a round reads: the distributions themselves or, if all drafts share one, its cuts.
struct Sight {
  const DistributionUnion& distributions;
  std::optional<RatioCuts> cuts;

  GeneralisedOutcome outcome_of(const GeneralisedTests& tests) {
    return cuts ? outcome(*cuts, tests) : outcome(distributions, tests);
  }
};

/// Solves LP_k. For different distributions, adds constraints until none is violated.
Result<RejectionProgram::Solution> solve(Sight& sight, const GeneralisedTests& tests, RejectionSets& sets) {
  const DistributionUnion& distributions = sight.distributions;
  if (sight.cuts) {
    const RejectionProgram program = program_of_equal_distributions(*sight.cuts, tests);
    sets = program.sets;
    return program.solve();
  }
  RejectionProgram program{.sets = sets_of(distributions, tests), .rows = {}};
  sets = program.sets;
  for (;;) {
    SPECTR_TRY(auto solution, program.solve());
    const std::vector<RejectionRow> violated = violated_rows(distributions, tests, solution);
    if (violated.empty()) return solution;
    const auto known = [&](const RejectionRow& row) {
      return std::ranges::find(program.rows, row) != program.rows.end();
    };
    if (std::ranges::all_of(violated, known)) return error("the solver ignores a constraint");
    program.rows.insert(program.rows.end(), violated.begin(), violated.end());
  }
}

/// Runs one round: LP_k for the sets of `tests`, its factors clamped to [0, γ_i], and the next sets.
Result<Round> improve(Sight& sight, GeneralisedTests tests) {
  RejectionSets sets;
  SPECTR_TRY(const auto solution, solve(sight, tests, sets));
  std::vector<double> next_bound = tests.bound;
  double reached = 1.0;  // u_{i−1}
  for (std::size_t i = 0; i < tests.drafts(); ++i) {
    const bool tested = sets.q[i] > 0.0 && reached > never;
    const double alpha = tested ? std::clamp(solution.w[i] / reached, 0.0, sets.gamma[i]) : 0.0;
    tests.alpha[i] = alpha;
    if (tested && sets.gamma[i] <= alpha * (1.0 + equality)) next_bound[i] = alpha * (1.0 + equality);
    reached = solution.u[i];
  }
  GeneralisedOutcome made = sight.outcome_of(tests);
  if (made.excess - 1.0 > largest_excess) {
    return error("the solver's tests accept 1 + {:.3g} times the target's law", made.excess - 1.0);
  }
  return Round{std::move(tests), std::move(made), std::move(next_bound)};
}

/// Runs the round after `last`, whose tests are feasible in it. Fails if it accepts much less than
/// `least`.
Result<Round> next_round(Sight& sight, const Round& last, double least) {
  SPECTR_TRY(Round round, improve(sight, {last.tests.alpha, last.next_bound}));
  if (round.acceptance() < least - largest_loss) {
    return error("the solver's tests accept {:.3g} less than those before", least - round.acceptance());
  }
  return round;
}

std::unique_ptr<TransportPlan> build(const DraftDistributions& p, const Distribution& q, int max_rounds) {
  DistributionUnion distributions(p, q);
  const double rho = smallest_division(p, distributions).rho;
  const std::size_t k = p.count();
  Sight sight{.distributions = distributions, .cuts = {}};
  if (p.equal()) {
    sight.cuts.emplace(distributions.p(0), distributions.q(), rounding_of_mass,
                       std::min(2.0 * static_cast<double>(k), max_ratio));
  }
  // Start from k-Seq, which is generalised k-Seq with α_i = 1/ρ.
  Round last{.tests = {.alpha = std::vector(k, 1.0 / rho), .bound = std::vector(k, (1.0 - equality) / rho)},
             .outcome = {},
             .next_bound = {}};
  last.next_bound = last.tests.bound;
  last.outcome = sight.outcome_of(last.tests);
  PlanParameters parameters;
  double least = last.acceptance();
  int rounds = 0;
  do {
    Result<Round> round = next_round(sight, last, least);
    if (!round) {
      parameters["fallback"] = rounds == 0 ? "k-seq: " + round.error().message
                                           : fmt::format("round {}: {}", rounds, round.error().message);
      break;
    }
    if (round->acceptance() < least - rounding) break;
    last = std::move(*round);
    least = std::max(least, last.acceptance());
    ++rounds;
  } while (!last.settled() && rounds < max_rounds);

  parameters["rho"] = rho;
  parameters["alphas"] = last.tests.alpha;
  parameters["u"] = last.outcome.u;
  parameters["iterations"] = static_cast<double>(rounds);
  return std::make_unique<GeneralisedKSeq>(p, q, std::move(distributions), std::move(last.tests),
                                           std::move(last.outcome), std::move(parameters));
}

}  // namespace

Result<std::unique_ptr<TransportPlan>> build_str_plus(const DraftDistributions& p, const Distribution& q,
                                                      const PlanOptions& options) {
  if (options.rounds < 1)
    return error("str+: the number of rounds must be at least 1, got {}", options.rounds);
  return build(p, q, options.rounds);
}

Result<std::unique_ptr<TransportPlan>> build_str_plus_plus(const DraftDistributions& p, const Distribution& q,
                                                           const PlanOptions&) {
  return build(p, q, std::numeric_limits<int>::max());
}

}  // namespace spectr
