#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace spectr {

/// The simplex method for small dense programs: x ≥ 0 with A x ≤ b. It maximises a first objective, a second
/// one among its maximisers, and so on: a column whose price at the optimum of one objective is not 0 stays
/// at 0 for the later ones (complementary slackness). Before them it minimises the excess t ≥ 0 of the rows
/// with b < 0, a x − t ≤ b; the minimum must be 0.
///
/// A program with n columns and m rows needs (m + objectives) n numbers, and as many operations per pivot: a
/// few microseconds, while LinearProgram, made for large sparse programs, takes about twenty to set up.
class LexicographicSimplex {
 public:
  /// Requires: columns ≥ 1.
  explicit LexicographicSimplex(std::size_t columns) : columns_(columns + 1) {}

  /// Adds a · x ≤ b. Requires: one number per column.
  void add_row(std::span<const double> a, double b);
  /// Adds the next objective, to be maximised. Requires: one number per column; no row is added later.
  void add_objective(std::span<const double> c);

  /// Returns an optimal x, or nullopt if there is no feasible one, an objective is unbounded, or rounding
  /// prevents termination.
  std::optional<std::vector<double>> maximise();

 private:
  std::span<double> row(std::size_t i) {
    return std::span(tableau_).subspan(i * (columns_ + 1), columns_ + 1);
  }
  void start();
  std::size_t entering(std::span<const double> prices, const std::vector<bool>& closed, bool first) const;
  std::optional<std::size_t> leaving(std::size_t column);
  void pivot(std::size_t leaves, std::size_t enters);

  std::size_t columns_;  // the columns of x, then the excess
  std::size_t rows_ = 0, objectives_ = 0;
  // Rows, then objectives: the coefficients of the nonbasic columns, and the value. A row defines its basic
  // variable: value − Σ coefficients · columns.
  std::vector<double> tableau_;
  std::vector<std::size_t> of_row_, of_column_;  // variables: columns, then one slack per row
};

}  // namespace spectr
