#include "spectr/sampling/likelihood.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace spectr {
namespace {

/// log Σ exp(logit).
double log_sum(const Logits& row) {
  return row.visit([](auto logits) {
    double largest = -std::numeric_limits<double>::infinity();
    for (double logit : logits) largest = std::max(largest, logit);
    double sum = 0.0;
    for (double logit : logits) sum += std::exp(logit - largest);
    return largest + std::log(sum);
  });
}

}  // namespace

double negative_log_likelihood(const Logits& row, Token token) {
  return log_sum(row) - row[static_cast<std::size_t>(token)];
}

std::vector<Likelihood> likeliest(const Logits& row, std::size_t n) {
  if (n == 0) return {};
  std::vector<Likelihood> best(std::min(n, row.size()));
  std::vector<Token> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&row](Token a, Token b) {
    const double x = row[static_cast<std::size_t>(a)], y = row[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(best.size()), before);
  const double normaliser = log_sum(row);
  for (std::size_t i = 0; i < best.size(); ++i) {
    best[i] = {order[i], row[static_cast<std::size_t>(order[i])] - normaliser};
  }
  return best;
}

}  // namespace spectr
