#include "lab/theory/sinkhorn.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace spectr::lab {
namespace {

/// A tuple of drafts: its distinct tokens and its probability.
struct Tuple {
  std::vector<std::size_t> tokens;
  double mass = 1.0;
};

std::vector<Tuple> tuples_of(const Distribution& p, std::size_t k) {
  std::vector<Tuple> all(1);
  for (std::size_t i = 0; i < k; ++i) {
    std::vector<Tuple> longer;
    for (const Tuple& tuple : all) {
      for (std::size_t y = 0; y < p.size(); ++y) {
        Tuple next = tuple;
        if (std::ranges::find(next.tokens, y) == next.tokens.end()) next.tokens.push_back(y);
        next.mass *= p.probabilities()[y];
        longer.push_back(std::move(next));
      }
    }
    all = std::move(longer);
  }
  return all;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// The plan diag(u) K diag(v), represented by u and v.
class Plan {
 public:
  Plan(std::vector<Tuple> tuples, std::span<const double> q, double outside)
      : tuples_(std::move(tuples)),
        q_(q.begin(), q.end()),
        outside_(outside),
        u_(tuples_.size(), 1.0),
        v_(q.size(), 1.0) {}

  /// Normalises the rows, then the columns; returns the error of the rows before.
  double rescale() {
    const std::vector<double> rows = row_factors();
    double wrong = 0.0;
    for (std::size_t x = 0; x < tuples_.size(); ++x) {
      wrong += std::abs(u_[x] * rows[x] - tuples_[x].mass);
      u_[x] = rows[x] > 0.0 ? tuples_[x].mass / rows[x] : 0.0;
    }
    const std::vector<double> columns = column_factors();
    for (std::size_t y = 0; y < v_.size(); ++y) v_[y] = columns[y] > 0.0 ? q_[y] / columns[y] : 0.0;
    return wrong;
  }

  /// Shrinks rows and columns to their marginals, and distributes the deficits as a product.
  double feasible_acceptance() {
    const std::vector<double> rows = row_factors();
    for (std::size_t x = 0; x < u_.size(); ++x) {
      if (u_[x] * rows[x] > tuples_[x].mass) u_[x] = tuples_[x].mass / rows[x];
    }
    const std::vector<double> columns = column_factors();
    std::vector<double> column_lack(q_);
    for (std::size_t y = 0; y < v_.size(); ++y) {
      if (v_[y] * columns[y] > q_[y]) v_[y] = q_[y] / columns[y];
      column_lack[y] -= v_[y] * columns[y];
    }
    const std::vector<double> shrunk = row_factors();
    double accepted = 0.0;
    const double lack = sum(column_lack);
    for (std::size_t x = 0; x < u_.size(); ++x) {
      const double row_lack = tuples_[x].mass - u_[x] * shrunk[x];
      for (const std::size_t y : tuples_[x].tokens) {
        accepted += u_[x] * v_[y];
        if (lack > 0.0) accepted += row_lack * column_lack[y] / lack;
      }
    }
    return accepted;
  }

 private:
  std::vector<double> row_factors() const {
    const double all = outside_ * sum(v_);
    std::vector<double> factors;
    for (const Tuple& tuple : tuples_) {
      double inside = 0.0;
      for (const std::size_t y : tuple.tokens) inside += v_[y];
      factors.push_back(all + (1.0 - outside_) * inside);
    }
    return factors;
  }
  std::vector<double> column_factors() const {
    std::vector<double> factors(v_.size(), outside_ * sum(u_));
    for (std::size_t x = 0; x < u_.size(); ++x) {
      for (const std::size_t y : tuples_[x].tokens) factors[y] += (1.0 - outside_) * u_[x];
    }
    return factors;
  }

  std::vector<Tuple> tuples_;
  std::vector<double> q_;
  double outside_;
  std::vector<double> u_, v_;
};

}  // namespace

Sinkhorn sinkhorn(const Distribution& p, const Distribution& q, std::size_t k,
                  const SinkhornOptions& options) {
  Plan plan(tuples_of(p, k), q.probabilities(), std::exp(-1.0 / options.regularisation));
  std::size_t iterations = 0;
  for (double wrong = 1.0; wrong > options.tolerance && iterations < options.max_iterations; ++iterations)
    wrong = plan.rescale();
  return {plan.feasible_acceptance(), iterations};
}

}  // namespace spectr::lab
