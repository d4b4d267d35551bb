#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "spectr/base/result.h"

namespace spectr {

/// Minimises c·x over x ≥ 0 subject to bounds on rows of linear terms, by the simplex method (Clp) with
/// tolerances of 1e-11. Prints nothing. Solving again after adding rows starts from the last basis.
class LinearProgram {
 public:
  struct Term {
    std::size_t column;
    double factor;
  };

  /// Requires: columns ≥ 1.
  explicit LinearProgram(std::size_t columns);
  ~LinearProgram();

  /// Adds lower ≤ Σ factor · x[column] ≤ upper; ±infinity means no bound. Each column occurs at most once.
  void add_row(double lower, std::span<const Term> terms, double upper);

  /// The reason why the solver ended without an optimum.
  struct Failure : Error {
    bool infeasible;  ///< no x satisfies the rows
  };

  /// Returns an optimal x.
  std::expected<std::vector<double>, Failure> minimise(std::span<const double> cost);

  /// Restricts the program to the optima of the last minimise(): by complementary slackness, a row or column
  /// with a price other than 0 stays at its bound. A second objective thus breaks ties of the first.
  void keep_optima();

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace spectr
