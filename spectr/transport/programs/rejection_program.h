#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "spectr/base/result.h"
#include "spectr/transport/math/ratio_cuts.h"
#include "spectr/transport/plans/generalised_k_seq.h"
#include "spectr/transport/programs/linear_program.h"

namespace spectr {

/// The data of the sets Ω_i that LP_k needs: one entry per draft. γ_i and q are taken over the tokens with q
/// > 0; here and below q denotes tested_mass(q).
struct RejectionSets {
  std::vector<double> p;      ///< p_i(Ω_i)
  std::vector<double> q;      ///< q(Ω_i); 0 if it is a rounding error
  std::vector<double> gamma;  ///< γ_i = min over Ω_i of p_i/q; meaningless if q(Ω_i) = 0
};

/// The constraint Σ_i f_i(x) ≤ q(x) of one token, divided by q(x). Each draft has p_i(x)/q(x) if x lies
/// outside Ω_i, nullopt if inside.
using RejectionRow = std::vector<std::optional<double>>;

/// The linear program LP_k of SpecTr++ for fixed sets Ω_i: the smallest probability u_k that all drafts are
/// rejected. With w_i = α_i u_{i−1}, the density relative to q with which draft i is accepted on Ω_i:
///
///   minimise u_k subject to u_i = p_i(Ω_i) u_{i−1} − q(Ω_i) w_i, 0 ≤ w_i ≤ γ_i u_{i−1}, u₀ = 1, and
///   Σ_{i: x ∈ Ω_i} w_i + Σ_{i: x ∉ Ω_i} p_i(x)/q(x) u_{i−1} ≤ 1 for every x with q(x) > 0.
///
/// If Ω_i has no token with q > 0, w_i = 0.
struct RejectionProgram {
  RejectionSets sets;
  std::vector<RejectionRow> rows;

  struct Solution {
    std::vector<double> u, w;
  };
  /// Returns the minimiser with the largest u_{k−1}, then u_{k−2}, …, u₁. Cost: if w = 0 is feasible, some
  /// pivots in a tableau of k columns; otherwise that of solve_by_library().
  Result<Solution> solve() const;
  /// Returns the same minimiser, computed by the solver library. Cost: k linear programs of 2k columns, each
  /// starting from the basis of the previous one.
  Result<Solution> solve_by_library() const;
  /// Returns only the minimal u_k. Cost: one linear program.
  std::expected<double, LinearProgram::Failure> least() const;
  /// Returns the smallest excess with which the rows can be met: 0 if feasible. Cost: one linear program.
  std::expected<double, LinearProgram::Failure> min_excess() const;

 private:
  std::optional<Solution> solve_in_a_tableau() const;
};

/// Returns LP_k for k drafts from one distribution, p_1 = … = p_k. The Ω_i are upper sets of one ratio p/q
/// and hence nested. There are at most k + 1 patterns of membership, and in each only the token with the
/// largest p/q binds, so the program has at most 3k + 1 rows for any V. Requires: `cuts` of p and q with
/// floor rounding_of_mass. Cost: k cuts.
RejectionProgram program_of_equal_distributions(RatioCuts& cuts, const GeneralisedTests& tests);

/// Returns the sets of LP_k for any distributions. Cost: one pass per draft.
RejectionSets sets_of(const DistributionUnion& distributions, const GeneralisedTests& tests);

/// Returns the most violated constraint of each pattern of membership at a solution; none if all hold.
/// Cost: one pass per draft.
std::vector<RejectionRow> violated_rows(const DistributionUnion& distributions, const GeneralisedTests& tests,
                                        const RejectionProgram::Solution& at);

}  // namespace spectr
