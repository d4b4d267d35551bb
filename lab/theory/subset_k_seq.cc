#include "lab/theory/subset_k_seq.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "spectr/transport/programs/rejection_program.h"

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

/// Returns the upper sets of p/q, the largest first: all tokens, all but the one of lowest p/q, …, none.
std::vector<std::uint32_t> upper_sets(const Distribution& p, const Distribution& q) {
  std::vector<std::size_t> order(p.vocabulary());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t x) { return p.probabilities()[x] / q.probabilities()[x]; });
  std::vector<std::uint32_t> sets = {(1U << p.vocabulary()) - 1U};
  for (const std::size_t x : order) sets.push_back(sets.back() & ~(1U << x));
  return sets;
}

}  // namespace

Result<double> min_rejection(const Distribution& p, const Distribution& q,
                             std::span<const std::uint32_t> sets) {
  SPECTR_CHECK(p.is_dense() && q.is_dense() && p.vocabulary() == q.vocabulary() && p.vocabulary() <= 20);
  // Outside its set the first draft is always accepted, with mass p, which must not exceed q.
  for (std::size_t x = 0; x < p.vocabulary(); ++x) {
    if (!contains(sets[0], x) && p.probabilities()[x] > q.probabilities()[x]) return 1.0;
  }
  const RejectionProgram program = program_of(p, q, sets);
  const auto rejection = program.least();
  if (rejection) return rejection;
  if (rejection.error().infeasible) return 1.0;
  // The solver reports a numerical error if it narrowly misses feasibility.
  SPECTR_TRY(const double excess, program.min_excess());
  return excess > equality ? 1.0 : rejection;
}

Result<double> min_rejection_of_prefixes(const Distribution& p, const Distribution& q, std::size_t k,
                                         double optimum) {
  const std::vector<std::uint32_t> upper = upper_sets(p, q);
  std::vector<std::size_t> at(k, 0);  // non-decreasing
  std::vector<std::uint32_t> sets(k);
  double best = 1.0;
  for (;;) {
    std::ranges::transform(at, sets.begin(), [&](std::size_t i) { return upper[i]; });
    SPECTR_TRY(const double cost, min_rejection(p, q, sets));
    best = std::min(best, cost);
    if (best <= optimum + equality) return best;
    std::size_t i = k;
    while (i > 0 && at[i - 1] + 1 == upper.size()) --i;
    if (i == 0) return best;
    std::fill(at.begin() + static_cast<std::ptrdiff_t>(i - 1), at.end(), at[i - 1] + 1);
  }
}

Result<double> min_rejection_of_subsets(const Distribution& p, const Distribution& q, std::size_t k) {
  const std::uint32_t all = 1U << p.vocabulary();
  std::vector<std::uint32_t> sets(k, 0);
  double best = 1.0;
  for (;;) {
    SPECTR_TRY(const double cost, min_rejection(p, q, sets));
    best = std::min(best, cost);
    std::size_t i = 0;
    while (i < k && ++sets[i] == all) sets[i++] = 0;
    if (i == k) return best;
  }
}

}  // namespace spectr::lab
