#include "lab/theory/subset_k_seq.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "spectr/transport/linear_program.h"
#include "spectr/transport/rejection_program.h"

namespace spectr::lab {
namespace {

/// Costs that differ by less are equal.
constexpr double equality = 1e-11;

bool contains(std::uint32_t set, std::size_t token) {
  return (set >> token & 1U) != 0;
}

RejectionProgram program_of(const Distribution& p, const Distribution& q,
                            std::span<const std::uint32_t> sets) {
  RejectionProgram program;
  for (const std::uint32_t set : sets) {
    double in_p = 0.0, in_q = 0.0, gamma = std::numeric_limits<double>::max();
    for (std::size_t x = 0; x < p.vocabulary(); ++x) {
      if (!contains(set, x)) continue;
      const double px = p.probabilities()[x], qx = q.probabilities()[x];
      in_p += px;
      in_q += qx;
      gamma = std::min(gamma, px / qx);
    }
    program.sets.p.push_back(in_p);
    program.sets.q.push_back(in_q);
    program.sets.gamma.push_back(gamma);
  }
  for (std::size_t x = 0; x < p.vocabulary(); ++x) {
    RejectionRow row;
    for (const std::uint32_t set : sets) {
      const double ratio = p.probabilities()[x] / q.probabilities()[x];
      row.push_back(contains(set, x) ? std::nullopt : std::optional(ratio));
    }
    program.rows.push_back(std::move(row));
  }
  return program;
}

/// The solver calls it a numerical error where it misses feasibility by little: then the least amount by
/// which the rows have to be exceeded decides.
Result<bool> is_infeasible(const RejectionProgram& program, const LinearProgram::Failure& failure) {
  if (failure.infeasible) return true;
  const auto& [p, q, gamma] = program.sets;
  const std::size_t k = p.size(), excess = 2 * k;  // columns u_1 … u_k, w_1 … w_k, excess
  constexpr double infinity = std::numeric_limits<double>::infinity();
  LinearProgram relaxed(2 * k + 1);
  std::vector<LinearProgram::Term> terms;
  for (std::size_t i = 0; i < k; ++i) {
    terms = {{i, 1.0}, {k + i, q[i]}};
    if (i > 0) terms.push_back({i - 1, -p[i]});
    relaxed.add_row(i == 0 ? p[i] : 0.0, terms, i == 0 ? p[i] : 0.0);
    const double most = q[i] > 0.0 ? gamma[i] : 0.0;
    terms = {{k + i, 1.0}};
    if (i > 0) terms.push_back({i - 1, -most});
    relaxed.add_row(-infinity, terms, i == 0 ? most : 0.0);
  }
  for (const RejectionRow& row : program.rows) {
    terms = {{excess, -1.0}};
    for (std::size_t i = 0; i < k; ++i) {
      if (!row[i]) terms.push_back({k + i, 1.0});
      if (row[i] && i > 0) terms.push_back({i - 1, *row[i]});
    }
    relaxed.add_row(-infinity, terms, row[0] ? 1.0 - *row[0] : 1.0);
  }
  std::vector<double> cost(2 * k + 1, 0.0);
  cost[excess] = 1.0;
  SPECTR_TRY(const auto x, relaxed.minimise(cost));
  return x[excess] > equality;
}

/// Upper sets of p/q, the largest first: all tokens, all but the one of the lowest p/q, …, none.
std::vector<std::uint32_t> upper_sets(const Distribution& p, const Distribution& q) {
  std::vector<std::size_t> order(p.vocabulary());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t x) { return p.probabilities()[x] / q.probabilities()[x]; });
  std::vector<std::uint32_t> sets = {(1U << p.vocabulary()) - 1U};
  for (const std::size_t x : order) sets.push_back(sets.back() & ~(1U << x));
  return sets;
}

}  // namespace

Result<double> least_rejection(const Distribution& p, const Distribution& q,
                               std::span<const std::uint32_t> sets) {
  SPECTR_CHECK(p.is_dense() && q.is_dense() && p.vocabulary() == q.vocabulary() && p.vocabulary() <= 20);
  // Outside its set the first draft is accepted with its whole mass p, which must not exceed q.
  for (std::size_t x = 0; x < p.vocabulary(); ++x) {
    if (!contains(sets[0], x) && p.probabilities()[x] > q.probabilities()[x]) return 1.0;
  }
  const RejectionProgram program = program_of(p, q, sets);
  const auto least = program.least();
  if (least) return least;
  SPECTR_TRY(const bool infeasible, is_infeasible(program, least.error()));
  return infeasible ? 1.0 : least;
}

Result<double> least_rejection_of_prefixes(const Distribution& p, const Distribution& q, std::size_t k,
                                           double optimum) {
  const std::vector<std::uint32_t> upper = upper_sets(p, q);
  std::vector<std::size_t> at(k, 0);  // non-decreasing
  std::vector<std::uint32_t> sets(k);
  double best = 1.0;
  for (;;) {
    std::ranges::transform(at, sets.begin(), [&](std::size_t i) { return upper[i]; });
    SPECTR_TRY(const double cost, least_rejection(p, q, sets));
    best = std::min(best, cost);
    if (best <= optimum + equality) return best;
    std::size_t i = k;
    while (i > 0 && at[i - 1] + 1 == upper.size()) --i;
    if (i == 0) return best;
    std::fill(at.begin() + static_cast<std::ptrdiff_t>(i - 1), at.end(), at[i - 1] + 1);
  }
}

Result<double> least_rejection_of_subsets(const Distribution& p, const Distribution& q, std::size_t k) {
  const std::uint32_t all = 1U << p.vocabulary();
  std::vector<std::uint32_t> sets(k, 0);
  double best = 1.0;
  for (;;) {
    SPECTR_TRY(const double cost, least_rejection(p, q, sets));
    best = std::min(best, cost);
    std::size_t i = 0;
    while (i < k && ++sets[i] == all) sets[i++] = 0;
    if (i == k) return best;
  }
}

}  // namespace spectr::lab
