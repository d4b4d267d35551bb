#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace spectr {

/// The simplex method for small dense programs: x ≥ 0 with A x ≤ b. It maximises a first objective, among its
/// maximisers a second one, and so on: a column whose price at the optimum of one objective is not 0 stays at
/// 0 for the later ones (complementary slackness). Before all of them comes the least excess t ≥ 0 of the
/// rows with b < 0, a x − t ≤ b, which has to be 0.
///
/// A program of n columns and m rows takes (m + objectives) n numbers, and as many operations a pivot: some
/// microseconds where LinearProgram, which is made for large sparse ones, takes some twenty to set itself up.
class LexicographicSimplex {
 public:
  /// Requires: columns ≥ 1.
  explicit LexicographicSimplex(std::size_t columns) : columns_(columns + 1) {}

  /// Adds a · x ≤ b. Requires: one number for each column.
  void add_row(std::span<const double> a, double b);
  /// Adds the next objective, to be maximised. Requires: one number for each column; no row comes later.
  void add_objective(std::span<const double> c);

  /// An optimal x; none where none is feasible, an objective grows without bound, or rounding keeps the
  /// method from ending.
  std::optional<std::vector<double>> maximise();

 private:
  std::span<double> row(std::size_t i) {
    return std::span(tableau_).subspan(i * (columns_ + 1), columns_ + 1);
  }
  void start();
  std::size_t entering(std::span<const double> prices, const std::vector<bool>& closed, bool first) const;
  std::optional<std::size_t> leaving(std::size_t column);
  void pivot(std::size_t leaves, std::size_t enters);

  std::size_t columns_;  // those of x, then the excess
  std::size_t rows_ = 0, objectives_ = 0;
  // Rows, then objectives: the numbers of the columns that are 0, and the value. A row says what its own
  // variable is: value − Σ numbers · columns.
  std::vector<double> tableau_;
  std::vector<std::size_t> of_row_, of_column_;  // variables: the columns, then the slack of each row
};

}  // namespace spectr
