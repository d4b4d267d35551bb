#include "spectr/transport/programs/lexicographic_simplex.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "spectr/base/check.h"

namespace spectr {
namespace {

/// Smaller prices (objectives and rows are scaled to a largest number of 1) and elements are rounding errors.
constexpr double tolerance = 1e-12;

/// After this many consecutive pivots without progress, Bland's rule (the first column that can enter) is
/// used, which guarantees termination.
constexpr int patience = 16;

/// Returns the divisor for a row: the largest absolute value of the numbers, or 1 if all are 0.
double scale_of(std::span<const double> numbers) {
  double largest = 0.0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  return largest > 0.0 ? largest : 1.0;
}

}  // namespace

void LexicographicSimplex::add_row(std::span<const double> a, double b) {
  SPECTR_CHECK(a.size() + 1 == columns_ && objectives_ == 0);
  const double scale = scale_of(a);
  for (const double number : a) tableau_.push_back(number / scale);
  tableau_.push_back(b < 0.0 ? -1.0 : 0.0);
  tableau_.push_back(b / scale);
  ++rows_;
}

void LexicographicSimplex::add_objective(std::span<const double> c) {
  SPECTR_CHECK(c.size() + 1 == columns_);
  if (objectives_++ == 0) {  // the excess is the first objective
    tableau_.resize(tableau_.size() + columns_ - 1, 0.0);
    tableau_.insert(tableau_.end(), {1.0, 0.0});
    ++objectives_;
  }
  const double scale = scale_of(c);
  for (const double number : c) tableau_.push_back(-number / scale);  // value = 0 − Σ (−c) x
  tableau_.insert(tableau_.end(), {0.0, 0.0});
}

/// Starts at x = 0 with the smallest excess there.
void LexicographicSimplex::start() {
  of_column_.resize(columns_);
  std::iota(of_column_.begin(), of_column_.end(), std::size_t{0});
  of_row_.resize(rows_);
  std::iota(of_row_.begin(), of_row_.end(), columns_);
  std::size_t worst = rows_;
  for (std::size_t i = 0; i < rows_; ++i) {
    const double value = row(i)[columns_];
    if (value < 0.0 && (worst == rows_ || value < row(worst)[columns_])) worst = i;
  }
  if (worst < rows_) pivot(worst, columns_ - 1);
}

/// Returns the column with the largest gain (with `first`: the first that gains), or columns_ if none does.
std::size_t LexicographicSimplex::entering(std::span<const double> prices, const std::vector<bool>& closed,
                                           bool first) const {
  std::size_t best = columns_;
  double least = -tolerance;
  for (std::size_t j = 0; j < columns_; ++j) {
    if (closed[j] || prices[j] >= least) continue;
    if (first && best < columns_ && of_column_[j] > of_column_[best]) continue;
    best = j;
    if (!first) least = prices[j];
  }
  return best;
}

/// Returns the row whose variable reaches 0 first while that of a column grows.
std::optional<std::size_t> LexicographicSimplex::leaving(std::size_t column) {
  std::optional<std::size_t> best;
  double least = std::numeric_limits<double>::infinity(), element = 0.0;
  for (std::size_t i = 0; i < rows_; ++i) {
    const double here = row(i)[column];
    if (here <= tolerance) continue;
    const double ratio = row(i)[columns_] / here;
    if (ratio > least || (ratio == least && here <= element)) continue;
    best = i;
    least = ratio;
    element = here;
  }
  return best;
}

void LexicographicSimplex::pivot(std::size_t leaves, std::size_t enters) {
  const std::span<double> pivot = row(leaves);
  const double inverse = 1.0 / pivot[enters];
  pivot[enters] = 1.0;
  for (double& number : pivot) number *= inverse;
  for (std::size_t i = 0; i < rows_ + objectives_; ++i) {
    if (i == leaves) continue;
    const std::span<double> other = row(i);
    const double factor = std::exchange(other[enters], 0.0);
    if (factor == 0.0) continue;
    for (std::size_t j = 0; j <= columns_; ++j) other[j] -= factor * pivot[j];
    if (i < rows_) other[columns_] = std::max(0.0, other[columns_]);  // removes rounding errors
  }
  std::swap(of_row_[leaves], of_column_[enters]);
}

std::optional<std::vector<double>> LexicographicSimplex::maximise() {
  start();
  std::vector<bool> closed(columns_, false);
  std::size_t left = 50 * (rows_ + columns_);  // pivots
  for (std::size_t objective = rows_; objective < rows_ + objectives_; ++objective) {
    const std::span<const double> prices = row(objective);
    int idle = 0;
    for (;;) {
      const std::size_t enters = entering(prices, closed, idle > patience);
      if (enters == columns_) break;
      const std::optional<std::size_t> leaves = leaving(enters);
      if (!leaves || left-- == 0) return std::nullopt;
      const double before = prices[columns_];
      pivot(*leaves, enters);
      idle = prices[columns_] > before ? 0 : idle + 1;
    }
    if (objective == rows_ && prices[columns_] < -tolerance) return std::nullopt;  // the excess
    for (std::size_t j = 0; j < columns_; ++j) closed[j] = closed[j] || prices[j] > tolerance;
  }
  std::vector<double> x(columns_ - 1, 0.0);
  for (std::size_t i = 0; i < rows_; ++i) {
    if (of_row_[i] < x.size()) x[of_row_[i]] = row(i)[columns_];
  }
  return x;
}

}  // namespace spectr
