#include "spectr/transport/programs/rejection_program.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "spectr/transport/programs/lexicographic_simplex.h"

namespace spectr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A set with less q-mass than this accepts less than this, for any α.
constexpr double cut_rounding = 1e-15;

/// Coefficients of a row that are smaller than this, relative to the largest, are dropped.
constexpr double negligible = 1e-15;

/// Costs that differ by less are equal.
constexpr double rounding_of_cost = 1e-12;

/// Constraints that are violated by less are left to the later repair.
constexpr double violation_tolerance = 1e-10;

/// Adds a row, divided by its largest coefficient. The columns are at most about 1, so coefficients that are
/// then negligible have no effect within the solver's tolerance, but would ruin its scaling.
void add_scaled_row(LinearProgram& program, double lower, std::vector<LinearProgram::Term> terms,
                    double upper) {
  double scale = 0.0;
  for (const auto& term : terms) scale = std::max(scale, std::abs(term.factor));
  if (scale == 0.0) return;
  std::erase_if(terms, [&](const auto& term) { return std::abs(term.factor) < negligible * scale; });
  for (auto& term : terms) term.factor /= scale;
  program.add_row(lower / scale, terms, upper / scale);
}

/// Adds the constraints on the columns u_1 … u_k, w_1 … w_k. A column `excess` relaxes the rows.
void constrain(LinearProgram& program, const RejectionSets& sets, const std::vector<RejectionRow>& rows,
               std::optional<std::size_t> excess = std::nullopt) {
  const std::size_t k = sets.p.size();
  using Term = LinearProgram::Term;
  std::vector<Term> terms;
  const auto add_u = [&](std::size_t i, double factor) {  // factor · u_{i−1} for draft i from 0, except u₀
    if (i > 0) terms.push_back({i - 1, factor});
  };
  for (std::size_t i = 0; i < k; ++i) {
    const double u0 = i == 0 ? 1.0 : 0.0;
    terms = {{i, 1.0}, {k + i, sets.q[i]}};
    add_u(i, -sets.p[i]);
    add_scaled_row(program, u0 * sets.p[i], terms, u0 * sets.p[i]);
    const double gamma = sets.q[i] == 0.0 ? 0.0 : sets.gamma[i];
    terms = {{k + i, 1.0}};
    add_u(i, -gamma);
    add_scaled_row(program, -infinity, terms, u0 * gamma);
  }
  for (const RejectionRow& row : rows) {
    terms.clear();
    for (std::size_t i = 0; i < k; ++i) {
      if (!row[i]) terms.push_back({k + i, 1.0});
      if (row[i]) add_u(i, *row[i]);
    }
    if (excess) terms.push_back({*excess, -1.0});
    add_scaled_row(program, -infinity, terms, row[0] ? 1.0 - *row[0] : 1.0);
  }
}

/// Minimises sign · u_{i+1}.
auto minimise(LinearProgram& program, std::size_t k, std::size_t i, double sign) {
  std::vector<double> cost(2 * k, 0.0);
  cost[i] = sign;
  return program.minimise(cost);
}

}  // namespace

std::expected<double, LinearProgram::Failure> RejectionProgram::least() const {
  const std::size_t k = sets.p.size();
  LinearProgram program(2 * k);
  constrain(program, sets, rows);
  SPECTR_TRY(const auto x, minimise(program, k, k - 1, 1.0));
  return x[k - 1];
}

std::expected<double, LinearProgram::Failure> RejectionProgram::min_excess() const {
  const std::size_t excess = 2 * sets.p.size();
  LinearProgram program(excess + 1);
  constrain(program, sets, rows, excess);
  std::vector<double> cost(excess + 1, 0.0);
  cost[excess] = 1.0;
  SPECTR_TRY(const auto x, program.minimise(cost));
  return x[excess];
}

/// Eliminates the u: u_i = P_{0,i} − Σ_{j ≤ i} q_j P_{j,i} w_j, where P_{j,i} = Π_{j < l ≤ i} p_l.
std::optional<RejectionProgram::Solution> RejectionProgram::solve_in_a_tableau() const {
  const std::size_t k = sets.p.size();
  // For i from 0: u_i at w = 0, and its decrease per w_j.
  std::vector<double> u = {1.0};
  std::vector<std::vector<double>> less = {std::vector(k, 0.0)};
  for (std::size_t i = 0; i < k; ++i) {
    u.push_back(u.back() * sets.p[i]);
    std::vector<double> next = less.back();
    for (double& number : next) number *= sets.p[i];
    next[i] = sets.q[i];
    less.push_back(std::move(next));
  }
  LexicographicSimplex program(k);
  std::vector<double> row(k);
  const auto add_u = [&](std::size_t i, double factor) {
    for (std::size_t j = 0; j < i; ++j) row[j] -= factor * less[i][j];
  };
  for (std::size_t i = 0; i < k; ++i) {
    const double gamma = sets.q[i] == 0.0 ? 0.0 : sets.gamma[i];
    row.assign(k, 0.0);
    row[i] = 1.0;
    add_u(i, -gamma);
    program.add_row(row, gamma * u[i]);
  }
  for (const RejectionRow& tests : rows) {
    row.assign(k, 0.0);
    double most = 1.0;
    for (std::size_t i = 0; i < k; ++i) {
      if (!tests[i]) row[i] += 1.0;
      if (tests[i]) add_u(i, *tests[i]), most -= *tests[i] * u[i];
    }
    program.add_row(row, most);
  }
  for (std::size_t i = k; i > 0; --i) {
    row.assign(k, 0.0);
    add_u(i, i == k ? -1.0 : 1.0);
    program.add_objective(row);
  }
  const auto w = program.maximise();
  if (!w) return std::nullopt;
  Solution solution{.u = {}, .w = *w};
  for (std::size_t i = 1; i <= k; ++i) {
    double least = u[i];
    for (std::size_t j = 0; j < i; ++j) least -= less[i][j] * solution.w[j];
    solution.u.push_back(std::max(0.0, least));
  }
  return solution;
}

Result<RejectionProgram::Solution> RejectionProgram::solve() const {
  if (auto solution = solve_in_a_tableau()) return *std::move(solution);
  return solve_by_library();
}

Result<RejectionProgram::Solution> RejectionProgram::solve_by_library() const {
  const std::size_t k = sets.p.size();
  LinearProgram program(2 * k);
  constrain(program, sets, rows);
  SPECTR_TRY(auto x, minimise(program, k, k - 1, 1.0));
  for (std::size_t i = k - 1; i-- > 0;) {
    program.keep_optima();
    auto next = minimise(program, k, i, -1.0);
    // If the optima lie within rounding of each other, the solver can lose them; any of them will do.
    if (!next || (*next)[k - 1] > x[k - 1] + rounding_of_cost) break;
    x = std::move(*next);
  }
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(k);
  return Solution{.u = {x.begin(), middle}, .w = {middle, x.end()}};
}

RejectionProgram program_of_equal_distributions(RatioCuts& cuts, const GeneralisedTests& tests) {
  const std::size_t k = tests.drafts();
  RejectionProgram program;
  for (const double bound : tests.bound) {
    const RatioCut cut = cuts.at(bound);
    program.sets.p.push_back(cut.above.p);
    program.sets.q.push_back(cut.above.q > cut_rounding ? cut.above.q : 0.0);
    program.sets.gamma.push_back(cut.lowest);
  }
  // Between two neighbouring bounds, and above all bounds, only the token with the largest p/q binds.
  std::vector<double> bounds = tests.bound;
  std::ranges::sort(bounds);
  bounds.erase(std::ranges::unique(bounds).begin(), bounds.end());
  for (std::size_t b = 0; b < bounds.size(); ++b) {
    const double highest = cuts.at(bounds[b]).highest;
    if (highest < 0.0 || (b > 0 && highest <= bounds[b - 1])) continue;
    RejectionRow row(k);
    for (std::size_t i = 0; i < k; ++i) {
      if (tests.bound[i] >= bounds[b]) row[i] = highest;
    }
    program.rows.push_back(std::move(row));
  }
  if (cuts.at(bounds.back()).above.q > 0.0) program.rows.emplace_back(k);
  return program;
}

RejectionSets sets_of(const DistributionUnion& distributions, const GeneralisedTests& tests) {
  RejectionSets sets;
  const auto q = distributions.q();
  for (std::size_t i = 0; i < tests.drafts(); ++i) {
    Masses inside;
    double lowest = infinity;  // smallest p/q over q > 0
    const auto p = distributions.p(i);
    for (std::size_t j = 0; j < q.size(); ++j) {
      const double mass = tested_mass(q[j]);
      if (!tests.inside(i, p[j], mass)) continue;
      inside = {inside.p + p[j], inside.q + mass};
      if (mass > 0.0) lowest = std::min(lowest, p[j] / mass);
    }
    sets.p.push_back(inside.p);
    sets.q.push_back(inside.q > cut_rounding ? inside.q : 0.0);
    sets.gamma.push_back(lowest);
  }
  return sets;
}

std::vector<RejectionRow> violated_rows(const DistributionUnion& distributions, const GeneralisedTests& tests,
                                        const RejectionProgram::Solution& at) {
  const std::size_t k = tests.drafts();
  struct Worst {
    std::size_t token;
    double use;
  };
  std::map<std::uint64_t, Worst> worst;  // by pattern; beyond 64 drafts, patterns can share an entry
  const auto q = distributions.q();
  for (std::size_t j = 0; j < q.size(); ++j) {
    if (!(tested_mass(q[j]) > 0.0)) continue;
    std::uint64_t pattern = 0;
    double use = 0.0;
    for (std::size_t i = 0; i < k; ++i) {
      const double p = distributions.p(i)[j];
      const bool inside = tests.inside(i, p, q[j]);
      pattern = pattern << 1 | (inside ? 1 : 0);
      use += inside ? at.w[i] : p / q[j] * (i == 0 ? 1.0 : at.u[i - 1]);
    }
    if (use <= 1.0 + violation_tolerance) continue;
    Worst& entry = worst.try_emplace(pattern, Worst{j, use}).first->second;
    if (use > entry.use) entry = {j, use};
  }
  std::vector<RejectionRow> rows;
  for (const auto& [pattern, entry] : worst) {
    RejectionRow row(k);
    for (std::size_t i = 0; i < k; ++i) {
      const double p = distributions.p(i)[entry.token], qx = q[entry.token];
      if (!tests.inside(i, p, qx)) row[i] = p / qx;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace spectr
