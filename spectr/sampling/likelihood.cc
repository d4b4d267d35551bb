#include "spectr/sampling/likelihood.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "spectr/base/check.h"
#include "spectr/base/recycled.h"
#include "spectr/kernels/vector_ops.h"

namespace spectr {
namespace {

/// log Σ exp(logit).
double log_sum(std::span<const double> logits) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (double logit : logits) sum += std::exp(logit - largest);
  return largest + std::log(sum);
}
double log_sum(std::span<const float> logits) {
  return log_sum_exp(logits);
}
double log_sum(const Logits& row) {
  return row.visit([](auto logits) { return log_sum(logits); });
}

}  // namespace

double negative_log_likelihood(const Logits& row, Token token) {
  SPECTR_CHECK(token >= 0 && static_cast<std::size_t>(token) < row.size());
  return log_sum(row) - row[static_cast<std::size_t>(token)];
}

RecycledVector<Likelihood> likeliest(const Logits& row, std::size_t n) {
  SPECTR_CHECK(row.size() > 0);
  if (n == 0) return {};
  RecycledVector<Likelihood> best(std::min(n, row.size()));
  RecycledVector<Token> order(row.size());
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
