#include "spectr/transport/programs/linear_program.h"

#include <ClpSimplex.hpp>
#include <CoinError.hpp>
#include <cmath>

#include "spectr/base/check.h"

namespace spectr {
namespace {

constexpr double solver_tolerance = 1e-11;
constexpr int infeasible = 1;  // the solver's status

/// Smaller prices are rounding errors.
constexpr double zero_price_tolerance = 1e-11;

const char* status_name(int status) {
  switch (status) {
    case infeasible:
      return "is infeasible";
    case 2:
      return "is unbounded";
    case 3:
      return "reached its iteration limit";
    default:
      return "met a numerical error";
  }
}

/// Fixes [lower, upper] to the bound that x has reached.
void close_on(double x, double& lower, double& upper) {
  if (std::abs(x - lower) <= std::abs(upper - x)) {
    upper = lower;
  } else {
    lower = upper;
  }
}

}  // namespace

struct LinearProgram::Solver {
  ClpSimplex clp;
  // Rows that were not passed to it yet: adding rows one at a time would copy its matrix each time.
  std::vector<double> lower, upper, factors;
  std::vector<int> columns, starts{0};

  void hand_over_rows() {
    if (lower.empty()) return;
    clp.addRows(static_cast<int>(lower.size()), lower.data(), upper.data(), starts.data(), columns.data(),
                factors.data());
    lower.clear();
    upper.clear();
    factors.clear();
    columns.clear();
    starts = {0};
  }
};

LinearProgram::LinearProgram(std::size_t columns) : solver_(std::make_unique<Solver>()) {
  SPECTR_CHECK(columns >= 1);
  solver_->clp.setLogLevel(0);
  solver_->clp.setPerturbation(100);  // off: its residue exceeds our tolerance
  solver_->clp.setPrimalTolerance(solver_tolerance);
  solver_->clp.setDualTolerance(solver_tolerance);
  solver_->clp.resize(0, static_cast<int>(columns));
}

LinearProgram::~LinearProgram() = default;

void LinearProgram::add_row(double lower, std::span<const Term> terms, double upper) {
  for (const auto& [column, factor] : terms) {
    solver_->columns.push_back(static_cast<int>(column));
    solver_->factors.push_back(factor);
  }
  solver_->starts.push_back(static_cast<int>(solver_->columns.size()));
  solver_->lower.push_back(lower);
  solver_->upper.push_back(upper);
}

std::expected<std::vector<double>, LinearProgram::Failure> LinearProgram::minimise(
    std::span<const double> cost) try {
  ClpSimplex& clp = solver_->clp;
  SPECTR_CHECK(cost.size() == static_cast<std::size_t>(clp.numberColumns()));
  solver_->hand_over_rows();
  for (std::size_t i = 0; i < cost.size(); ++i) clp.setObjectiveCoefficient(static_cast<int>(i), cost[i]);
  clp.primal();
  if (clp.status() != 0) {  // retry from scratch
    clp.allSlackBasis(true);
    clp.primal();
  }
  if (clp.status() != 0) {
    const std::string said = fmt::format("the linear program {}", status_name(clp.status()));
    return std::unexpected(Failure{{said}, clp.status() == infeasible});
  }
  const double* x = clp.getColSolution();
  std::vector<double> solution(x, x + cost.size());
  for (double value : solution) {
    if (!std::isfinite(value)) {
      return std::unexpected(Failure{{"the linear program has a solution that is not finite"}, false});
    }
  }
  return solution;
} catch (const CoinError& thrown) {
  return std::unexpected(Failure{{"the linear program's solver failed: " + thrown.message()}, false});
}

void LinearProgram::keep_optima() {
  ClpSimplex& clp = solver_->clp;
  for (int row = 0; row < clp.numberRows(); ++row) {
    if (std::abs(clp.dualRowSolution()[row]) <= zero_price_tolerance) continue;
    double lower = clp.rowLower()[row], upper = clp.rowUpper()[row];
    close_on(clp.primalRowSolution()[row], lower, upper);
    clp.setRowBounds(row, lower, upper);
  }
  for (int column = 0; column < clp.numberColumns(); ++column) {
    if (std::abs(clp.dualColumnSolution()[column]) <= zero_price_tolerance) continue;
    double lower = clp.columnLower()[column], upper = clp.columnUpper()[column];
    close_on(clp.primalColumnSolution()[column], lower, upper);
    clp.setColumnBounds(column, lower, upper);
  }
}

}  // namespace spectr
